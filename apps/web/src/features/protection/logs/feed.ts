import type { LogEntry, LogLevel, LogSource } from '@sallyport/contract';
import { urlOf } from '../../../api/client.ts';

/** An entry as it came, with a number of its own. */
export interface Line {
  id: number;
  entry: LogEntry;
  /** What a search looks at, in small letters. */
  text: string;
}

export interface Feed {
  state: 'connecting' | 'live' | 'lost';
  lines: readonly Line[];
  /** How many came while it was paused. */
  waiting: number;
  isPaused: boolean;
}

interface FeedQuery {
  level: LogLevel | undefined;
  source: LogSource | undefined;
}

/** What the server has in hand at most. */
const BACKLOG = 500;
/** Lines that are kept; older ones make room. */
export const MAX_LINES = 5_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

const addressOf = (query: FeedQuery): string => {
  const { protocol, host } = window.location;
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${urlOf('/logs/live', { ...query, backlog: BACKLOG })}`;
};

/**
 * Reads the live log over a WebSocket that is opened again whenever it ends. Whatever comes within a frame of the screen is told at
 * once; a page in the background, which has no frames, keeps no more than `MAX_LINES` for later. `onLost` is told when it ends.
 */
export const openFeed = (query: FeedQuery, onChange: (feed: Feed) => void, onLost: () => void) => {
  let feed: Feed = { state: 'connecting', lines: [], waiting: 0, isPaused: false };
  let pending: Line[] = [];
  let nextId = 1;
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket | undefined;
  let wait = FIRST_WAIT_MS;
  let isClosed = false;
  /** What was read last before a connection ended: the next one begins with some of it again. */
  let recent: string[] = [];
  let known = new Set<string>();

  const tell = (change: Partial<Feed>) => {
    feed = { ...feed, ...change };
    onChange(feed);
  };

  const show = () => {
    frame = undefined;
    if (isClosed) return;
    if (feed.isPaused) return tell({ waiting: pending.length });
    if (pending.length === 0) return;
    const lines = [...feed.lines, ...pending].slice(-MAX_LINES);
    pending = [];
    tell({ lines, waiting: 0 });
  };
  const showSoon = () => {
    frame ??= requestAnimationFrame(show);
  };

  const take = (raw: string) => {
    if (known.delete(raw)) return;
    recent.push(raw);
    if (recent.length > 2 * BACKLOG) recent = recent.slice(-BACKLOG);
    const entry = JSON.parse(raw) as LogEntry;
    pending.push({ id: nextId, entry, text: raw.toLowerCase() });
    nextId += 1;
    if (pending.length > 2 * MAX_LINES) pending = pending.slice(-MAX_LINES);
    showSoon();
  };

  const open = () => {
    socket = new WebSocket(addressOf(query));
    socket.onopen = () => {
      wait = FIRST_WAIT_MS;
      tell({ state: 'live' });
    };
    socket.onmessage = ({ data }) => take(String(data));
    socket.onclose = () => {
      if (isClosed) return;
      known = new Set(recent.slice(-BACKLOG));
      tell({ state: 'lost' });
      onLost();
      timer = setTimeout(open, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    };
  };
  open();
  onChange(feed);

  return {
    pause(isPaused: boolean): void {
      tell({ isPaused });
      showSoon();
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      if (frame !== undefined) cancelAnimationFrame(frame);
      socket?.close();
    },
  };
};
