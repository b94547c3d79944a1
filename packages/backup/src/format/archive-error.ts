/** Says in words for people what is wrong with a backup file, or with the passphrase for it. */
export class ArchiveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArchiveError';
  }
}

/** The passphrase does not open the backup, which tells nothing about the file. */
export class WrongPassphrase extends ArchiveError {}
