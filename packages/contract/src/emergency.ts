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
    last_proven_at: Type.Union([Type.String(), Type.Null()], { description: 'When a drill last succeeded.' }),
  },
  { title: 'EmergencyStatus' },
);
export type EmergencyStatus = Static<typeof EmergencyStatus>;
