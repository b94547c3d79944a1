/**
 * Says what is wrong inside the SQLite database that it is given the path of: `ok`, or SQLite's words. A program of its own, because nothing
 * ends the check but the end of its process, and who wrote the database decides what it costs.
 */
import { DatabaseSync } from 'node:sqlite';

const check = (path: string): string => {
  try {
    const database = new DatabaseSync(path);
    // What its tables call may compute, and nothing else.
    database.exec('pragma trusted_schema = off');
    const [first] = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
    return first?.quick_check ?? 'it can not be checked';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

// Names of tables are in SQLite's words, and may be of any length.
process.stdout.write(check(process.argv[2] ?? '').slice(0, 500));
