import { choice, ignoring, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const Pid = Type.Integer({ description: 'Of the process.' });

export const CrowdsecStart = Type.Object(
  {
    status: choice(['started']),
    pid: Pid,
    lapi_ready: Type.Boolean({ description: 'False: the process runs, but its local API is still starting.' }),
  },
  { title: 'CrowdsecStart' },
);
export type CrowdsecStart = Static<typeof CrowdsecStart>;

export const CrowdsecStop = Type.Object({ status: choice(['stopped']) }, { title: 'CrowdsecStop' });
export type CrowdsecStop = Static<typeof CrowdsecStop>;

export const CrowdsecStatus = Type.Object(
  {
    status: choice(['running', 'starting', 'stopped', 'failed', 'not_installed'], {
      description: 'failed: it is wanted but ended; it is tried again. issue tells why.',
    }),
    pid: Type.Union([Pid, Type.Null()]),
    version: Type.Union([Type.String(), Type.Null()]),
    lapi_ready: Type.Boolean({ description: 'Its local API answers.' }),
    decisions: Type.Integer({ description: 'Decisions of CrowdSec that are stored here and have not ended.' }),
    decisions_of_others: Type.Integer({
      description: 'Of those, how many are of the lists that an enrolled CrowdSec reads: what others have banned.',
    }),
    last_sync: Type.Union([Timestamp, Type.Null()], {
      description: 'When its decisions were last read; null: not since this server was started.',
    }),
    acquisition: Type.Array(Type.String(), { description: 'Log files that it reads.' }),
    scenarios: Type.Array(Type.String(), {
      description: 'Names of the scenarios that judge what is read; see GET /admin/crowdsec/presets.',
    }),
    traffic: Type.Object(
      {
        told: Type.Boolean({ description: 'HAProxy tells of every request, which is what CrowdSec judges.' }),
        lines_written: Type.Integer({
          description: 'Requests written into the log that CrowdSec reads, since this server was started.',
        }),
        lines_dropped: Type.Integer({
          description:
            'Requests that were left out, because there were more than CrowdSec can read or the log could not be written.',
        }),
        lines_unread: Type.Union([Type.Integer(), Type.Null()], {
          description:
            'Lines of the log that CrowdSec has not read yet; null: it does not read, or that can not be seen.',
        }),
      },
      { description: 'What CrowdSec sees of the traffic of this machine.' },
    ),
    issue: Type.Union([Type.String(), Type.Null()], { description: 'What is wrong, in words.' }),
  },
  { title: 'CrowdsecStatus' },
);
export type CrowdsecStatus = Static<typeof CrowdsecStatus>;

export const ConsoleEnrolment = Type.Object(
  {
    state: choice(['none', 'enrolling', 'waiting_for_acceptance', 'failed'], {
      description:
        'waiting_for_acceptance: the console took it, and shows it once somebody accepts it there, which it does not tell. failed: the last try, since this server was started; issue tells why.',
    }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'As the console shows it.' }),
    tags: Type.Array(Type.String()),
    issue: Type.Union([Type.String(), Type.Null()], { description: 'What is wrong, in words.' }),
    enrolled_at: Type.Union([Timestamp, Type.Null()]),
    sends: Type.Union([Type.String(), Type.Null()], {
      description: 'What CrowdSec sends while it runs, and where; null: nothing.',
    }),
  },
  { title: 'ConsoleEnrolment' },
);
export type ConsoleEnrolment = Static<typeof ConsoleEnrolment>;

export const NewConsoleEnrolment = Type.Object(
  {
    token: Type.String({
      pattern: '^\\S{1,128}$',
      description: 'The enrolment key that the console shows. It is not kept.',
    }),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Default: the name of this machine.' }),
    ),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16 })),
  },
  ignoring('NewConsoleEnrolment', ['state', 'issue', 'enrolled_at', 'sends']),
);
export type NewConsoleEnrolment = Static<typeof NewConsoleEnrolment>;

export const CrowdsecPreset = Type.Object(
  {
    name: Type.String({ description: 'As its hub names it: author/name.' }),
    kind: choice(['collection', 'scenario'], {
      description: 'A collection holds scenarios, its own and those of others.',
    }),
    description: Type.String({ description: 'What it detects, in the words of its maker.' }),
    usable: Type.Boolean({
      description:
        'It judges what clients ask of a web server, which is all that CrowdSec is told here. Others can not be applied.',
    }),
    applied: Type.Boolean({ description: 'All of its usable scenarios are to be in force.' }),
    scenarios: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        applied: Type.Boolean(),
        issue: Type.Union([Type.String(), Type.Null()], {
          description: 'Why CrowdSec refused it, in its words; it goes on without it.',
        }),
      }),
      { description: 'Those that are usable.' },
    ),
  },
  { title: 'CrowdsecPreset' },
);
export type CrowdsecPreset = Static<typeof CrowdsecPreset>;
