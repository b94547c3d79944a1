import { choice, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** Answer of the emergency reset, at both listeners (spec, Emergency recovery). */
export const EmergencyReset = Type.Object(
  {
    success: Type.Boolean(),
    message: Type.String({ description: 'What became of it, in words.' }),
    disabled_modules: Type.Array(Type.String(), { description: 'Keys of the settings that are off now.' }),
  },
  { title: 'EmergencyReset' },
);
export type EmergencyReset = Static<typeof EmergencyReset>;

export const EmergencyStatus = Type.Object(
  {
    token_set: Type.Boolean({
      description: 'Whether SALLYPORT_EMERGENCY_TOKEN is set; without it nothing can be reset.',
    }),
    listener: Type.Union([Type.String(), Type.Null()], { description: 'Where the emergency server listens.' }),
    last_proven_at: Type.Union([Timestamp, Type.Null()], { description: 'When a drill last succeeded.' }),
    env_file: Type.String({
      description: 'The file .env of this node, absolute: what stands there holds from its next start.',
    }),
    command: Type.String({ description: 'The command sallyport of this node, absolute: the way in from a shell.' }),
  },
  { title: 'EmergencyStatus' },
);
export type EmergencyStatus = Static<typeof EmergencyStatus>;

/** What a drill looks at, in this order. */
export const DRILL_CHECKS = [
  'token',
  'listener',
  'management',
  'store',
  'disk',
  'proxy',
  'switches',
  'shell',
  'backup',
  'copies',
] as const;

export const EmergencyDrill = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether every check succeeded.' }),
    checks: Type.Array(
      Type.Object({
        name: choice(DRILL_CHECKS, { description: 'What was looked at.' }),
        ok: Type.Boolean(),
        message: Type.String({ description: 'What was found; when it is not well, what to do about it.' }),
      }),
    ),
    proven_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When a drill last succeeded: this one, when `ok` is true. null: none has yet.',
    }),
  },
  { title: 'EmergencyDrill' },
);
export type EmergencyDrill = Static<typeof EmergencyDrill>;
