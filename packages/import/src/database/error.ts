/** Where in a database something is wrong, as far as it is known. */
export interface DatabasePlace {
  table?: string | undefined;
  /** Its `id`. */
  row?: number;
  /** The offending piece. */
  text?: string;
}

/** Why a database can not be read, in words for who uploaded it. */
export class DatabaseError extends Error {
  readonly place: DatabasePlace;

  constructor(message: string, place: DatabasePlace = {}) {
    super(message);
    this.name = 'DatabaseError';
    this.place = place;
  }
}
