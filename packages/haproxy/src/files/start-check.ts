import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { certificateId, dataPlaneFiles, inDirectory } from '../config/layout.ts';

const run = promisify(execFile);

/** Whether HAProxy would start from the files as they are; if not, why, and the certificate it stumbled over, if one. */
export type StartCheck = { ok: true } | { ok: false; reason: string; certificate: number | undefined };

/** Lets HAProxy read its configuration and everything it names (`haproxy -c`), without starting it. */
export const checkStart = async (haproxy: string, directory: string): Promise<StartCheck> => {
  try {
    await run(haproxy, ['-c', '-f', inDirectory(directory, dataPlaneFiles.config)]);
    return { ok: true };
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    const reason = /\[ALERT\][^:]*: (.*)/.exec(stderr ?? '')?.[1] ?? message;
    const store = new RegExp(`${dataPlaneFiles.certificateDirectory}/\\d+\\.pem`).exec(reason)?.[0];
    return { ok: false, reason, certificate: store === undefined ? undefined : certificateId(store) };
  }
};
