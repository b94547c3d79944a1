import type { AdminSocket } from './admin-socket.ts';
import { RuntimeRefused } from './runtime-errors.ts';

/** The process that answers on the admin socket. */
export type ProcessInfo = {
  version: string;
  pid: number;
  /** Whole seconds since the process started. */
  uptimeSec: number;
  /** All of `show info`, for metrics. */
  values: ReadonlyMap<string, string>;
};

/** Reads `show info`. Rejects with RuntimeRefused or RuntimeUnavailable. */
export const readProcessInfo = async (socket: AdminSocket): Promise<ProcessInfo> => {
  const values = new Map<string, string>();
  await socket.askLines({ words: ['show', 'info'] }, (line) => {
    const colon = line.indexOf(': ');
    if (colon > 0) values.set(line.slice(0, colon), line.slice(colon + 2).trim());
  });
  const pid = Number(values.get('Pid'));
  const version = values.get('Version');
  if (!Number.isInteger(pid) || version === undefined) throw new RuntimeRefused('show info', 'no Pid or Version');
  return { version, pid, uptimeSec: Number(values.get('Uptime_sec')), values };
};
