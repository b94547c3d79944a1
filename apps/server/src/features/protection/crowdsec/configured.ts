import type { ConsoleCredentials } from './console/credentials.ts';
import type { PresetChoice } from './presets/hub.ts';

/** What is stored of what CrowdSec judges by, and whom it tells. */
export interface Configured {
  /** Networks that it never looks at. */
  whitelist: readonly string[];
  choices: readonly PresetChoice[];
  /** Who it is to the console; undefined: it is not enrolled. */
  console: ConsoleCredentials | undefined;
}
