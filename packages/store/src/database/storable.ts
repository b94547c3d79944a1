const MAX_FIELD = 512;

/** PostgreSQL's text takes no NUL, and half a surrogate pair is no UTF-8; neither may keep an event off the record. */
export const storable = (text: string): string => text.slice(0, MAX_FIELD).replaceAll('\0', '').toWellFormed();
