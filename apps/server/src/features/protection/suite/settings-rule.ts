/** Id of the rule that sets the levels. Ids below 100,000 are reserved for local use; the Core Rule Set's own start at 900,000. */
export const SETTINGS_RULE_ID = 99_000;
