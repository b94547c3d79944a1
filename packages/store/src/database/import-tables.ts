type IsoTime = string;

/** One import of another proxy's configuration. */
export interface ImportSessionRow {
  uuid: string;
  filename: string;
  /** What the content turned out to be; null until it is read. */
  source: string | null;
  state: string;
  /** Who uploaded it: see `actorName` and `ownerOf`. */
  actor: string;
  owner: string;
  /** How often it was begun to read it: what ends the service each time is not read for ever. */
  attempts: number;
  /** JSON of the uploaded files, sealed by `secrets/vault.ts`; null once they are read. */
  files_sealed: string | null;
  /** JSON of what was read, sealed; null before, and when the session ended well. */
  reading_sealed: string | null;
  /** JSON of the counts and the imported names; null unless committed. */
  outcome: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface ImportTables {
  import_sessions: ImportSessionRow;
}
