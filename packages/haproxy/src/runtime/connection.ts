import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '../model/data-plane.ts';
import type { AdminSocket } from './admin-socket.ts';
import { type ProcessInfo, readProcessInfo } from './process-info.ts';
import { watchProcess } from './process-watch.ts';

export type ConnectionOptions = {
  socketPath: string;
  socket: AdminSocket;
  /** Pause between two attempts to reach HAProxy, milliseconds. */
  retryMs?: number;
  /** Period of the check whether another process answers (after a reload the old one lingers), milliseconds. */
  checkMs?: number;
  /** A process answers that did not before. A rejection counts as not connected; it is tried again. */
  onConnected(info: ProcessInfo): Promise<void>;
  onDisconnected(reason: string): void;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Follows the HAProxy behind an admin socket: through crashes, restarts and reloads. */
export const followHaproxy = (options: ConnectionOptions) => {
  const { socketPath, socket, retryMs = 100, checkMs = 1_000, onConnected, onDisconnected } = options;
  let connection: Connection = { state: 'disconnected', reason: 'not asked yet' };
  const stopping = new AbortController();
  let wake = (): void => {};
  let isSuspect = false;

  const startedAt = (info: ProcessInfo): Date => new Date(Date.now() - info.uptimeSec * 1000);

  const disconnected = (reason: string): void => {
    const wasConnected = connection.state === 'connected';
    connection = { state: 'disconnected', reason };
    if (wasConnected) onDisconnected(reason);
  };

  /** Connects, then returns when the process is gone or another one answers. */
  const followOne = async (): Promise<void> => {
    let isGone = false;
    isSuspect = false;
    const isOver = (): boolean => isGone || isSuspect || stopping.signal.aborted;
    const watch = await watchProcess(socketPath, () => {
      isGone = true;
      wake();
    });
    try {
      const info = await readProcessInfo(socket);
      await onConnected(info);
      connection = { state: 'connected', pid: info.pid, version: info.version, startedAt: startedAt(info) };
      while (!isOver()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, checkMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        if (!isOver() && (await readProcessInfo(socket)).pid !== info.pid) return;
      }
    } finally {
      watch.stop();
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await followOne();
        if (!isSuspect) disconnected('HAProxy ended or was replaced');
      } catch (error) {
        disconnected(messageOf(error));
        await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const running = loop();

  return {
    get connection(): Connection {
      return connection;
    },
    /** Something went wrong with this process: connect anew, so that `onConnected` looks it over. */
    suspect(reason: string): void {
      isSuspect = true;
      disconnected(reason);
      wake();
    },
    async stop(): Promise<void> {
      stopping.abort();
      wake();
      await running;
    },
  };
};
