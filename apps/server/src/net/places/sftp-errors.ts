/** Status codes of draft-ietf-secsh-filexfer-02, section 7. */
const NO_SUCH_FILE = 2;
const PERMISSION_DENIED = 3;
const FAILURE = 4;
const UNSUPPORTED = 8;

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;

export const isNoSuchFile = (error: unknown): boolean => codeOf(error) === NO_SUCH_FILE;

/** Of what the host can't do at all. */
export const isUnsupported = (error: unknown): boolean =>
  codeOf(error) === UNSUPPORTED || /does not support/.test(String((error as Error | undefined)?.message));

/** Why a host with another key than one of `known` is not told anything. */
export const strangeKey = (shown: string, known: readonly string[]): Error =>
  new Error(
    known.length === 0
      ? `backup.copy_host_key is not set, so nothing was told to the SFTP host. It shows the key ${shown}: compare that with what ssh-keygen -lf tells there, then set it`
      : `the SFTP host shows the key ${shown}, but backup.copy_host_key is ${known.join(' ')}: it has a new key, or it is another host`,
  );

/** Of what a host says of its own accord so much is shown, on terminals too. */
const MOST_SAID = 300;

const said = ({ message }: Error): string => message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, MOST_SAID);

/** What went wrong, fit for an administrator. */
export const inWords = (error: Error, { user, directory }: { user: string; directory: string }): Error => {
  const place = directory === '' ? '/' : directory;
  if ((error as { level?: unknown }).level === 'client-authentication') {
    return new Error(`the SFTP host does not let ${user} in with this key or password`);
  }
  switch (codeOf(error)) {
    case NO_SUCH_FILE:
      return new Error(`the SFTP host has no directory ${place}, or not that file in it (${said(error)})`);
    case PERMISSION_DENIED:
      return new Error(`the SFTP host does not let ${user} do that in ${place} (${said(error)})`);
    case FAILURE:
      // OpenSSH says this of whatever has no code of its own.
      return new Error(`the SFTP host could not do it, its disk may be full (${said(error)})`);
    case undefined:
      return error;
    default:
      return new Error(said(error));
  }
};
