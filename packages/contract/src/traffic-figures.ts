import { Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** So many hours are kept. */
export const TRAFFIC_FIGURES_HOURS = 48;

/** So many buckets an answer has at most. */
export const TRAFFIC_FIGURES_BUCKETS = 1_440;

const count = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${description} null: not known, because HAProxy could not be asked or it is longer ago than is kept.`,
  });

export const TrafficBucket = Type.Object(
  {
    at: Timestamp,
    requests: count('Requests that ended.'),
    peak_requests: count('Requests of its busiest minute.'),
    client_errors: count('Of these, those answered with a status from 400 to 499: refusals of the suite as well.'),
    server_errors: count('Of these, those answered with a status from 500.'),
    bytes_in: count('Bytes from clients.'),
    bytes_out: count('Bytes to clients.'),
    unknown_minutes: Type.Integer({
      minimum: 0,
      description: 'Minutes of it about which nothing is known: the sums are of the others.',
    }),
  },
  { title: 'TrafficBucket' },
);
export type TrafficBucket = Static<typeof TrafficBucket>;

export const TrafficFigures = Type.Object(
  {
    node: Type.String({ description: 'Name of the machine whose HAProxy counted. Each node counts for itself.' }),
    since: Timestamp,
    step: Type.Integer({ minimum: 60, description: 'Seconds of a bucket.' }),
    buckets: Type.Array(TrafficBucket, {
      description: 'Oldest first, without a hole; the last one is still being counted.',
    }),
  },
  { title: 'TrafficFigures' },
);
export type TrafficFigures = Static<typeof TrafficFigures>;

export const TrafficFiguresQuery = Type.Object(
  {
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Begin, taken back to a whole multiple of `step` in UTC. Default: 24 hours ago.',
      }),
    ),
    step: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 86_400,
        description: `Seconds of a bucket, whole minutes. Default 60. No more than ${TRAFFIC_FIGURES_BUCKETS} buckets are given.`,
      }),
    ),
  },
  { title: 'TrafficFiguresQuery' },
);
export type TrafficFiguresQuery = Static<typeof TrafficFiguresQuery>;
