/** Why a database can not be read, in words for who uploaded it. */
export class DatabaseError extends Error {}
