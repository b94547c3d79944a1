/** What the sealed value of a secret setting is bound to. */
export const settingContext = (key: string): string => `setting:${key}`;
