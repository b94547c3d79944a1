import { checkStart } from '../files/start-check.ts';
import type { HostTls } from '../reconcile/tls-entries.ts';
import type { createTlsPlane } from './tls-plane.ts';

interface StartableDeps {
  /** Path of the haproxy binary that tries the files. */
  haproxy: string;
  directory: string;
  tls: ReturnType<typeof createTlsPlane>;
  onFailed(err: unknown): void;
}

/** Leaves out, one by one, certificates that would keep HAProxy from starting: then nobody would be served. */
export const quarantineForStart = async (
  { haproxy, directory, tls, onFailed }: StartableDeps,
  hosts: () => Iterable<HostTls>,
): Promise<void> => {
  while (tls.ids().length > 0) {
    const check = await checkStart(haproxy, directory);
    if (check.ok) return;
    if (check.certificate === undefined || !tls.has(check.certificate)) {
      onFailed(new Error(`HAProxy would not start: ${check.reason}`));
      return;
    }
    await tls.quarantine(check.certificate, `HAProxy refused it: ${check.reason}`, hosts());
  }
};
