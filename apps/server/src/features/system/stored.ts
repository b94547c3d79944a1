export { checkStoredSettings } from './restore/check-settings.ts';
