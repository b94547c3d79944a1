/** Tells whether `error` says that the database can't be reached, so that trying again later may help. */
export const isStoreUnavailable = (error: unknown): boolean => {
  // One for each address of a name that has several, as `localhost` has.
  if (error instanceof AggregateError) return error.errors.some(isStoreUnavailable);
  const { code, syscall, message } = error as { code?: unknown; syscall?: unknown; message?: unknown };
  // 08: connection exception; 57P0: the server was told to stop; 3D000: no such database; 53300: it takes no more connections
  // (PostgreSQL manual, appendix A).
  if (typeof code === 'string' && /^(08|57P0|3D000|53300)/.test(code)) return true;
  // What the driver says of a connection that broke has no code.
  const isBroken = /^(Connection terminated|Client .* is not queryable|timeout exceeded when trying to connect)/;
  // The name of a container that is stopped is not known any more.
  const isAway = syscall === 'connect' || syscall === 'getaddrinfo' || code === 'ECONNRESET' || code === 'EPIPE';
  return isAway || (typeof message === 'string' && isBroken.test(message));
};

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Codes of a full disk or an exhausted quota: SQLite's, PostgreSQL's (manual, appendix A), the operating system's. */
const STORE_FULL = new Set<unknown>(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', '53100']);
const FILES_FULL = new Set<unknown>(['ENOSPC', 'EDQUOT']);

/** Whether a fault, or what caused it, has one of these codes. */
const hasCode = (error: unknown, codes: ReadonlySet<unknown>): boolean =>
  codes.has(codeOf(error)) || (error instanceof Error && error.cause !== undefined && hasCode(error.cause, codes));

/** Tells whether `error` says that there was no room to store something. */
export const isDiskFull = (error: unknown): boolean => hasCode(error, STORE_FULL) || hasCode(error, FILES_FULL);

/** Whose disk is full, for the operator. */
export const diskOf = (error: unknown): string => (codeOf(error) === '53100' ? 'PostgreSQL server' : 'data directory');
