import { type AdminSocket, RuntimeUnavailable } from '@sallyport/haproxy';

/**
 * Lines of HAProxy's log that its ring of events still holds, the oldest first: they stay there when they were sent, until
 * others need the room (1 MiB). None while HAProxy does not answer.
 */
export const readHeldLines = async (socket: AdminSocket): Promise<string[]> => {
  const lines: string[] = [];
  try {
    await socket.askLines({ words: ['show', 'events', 'events'] }, (line) => lines.push(line));
  } catch (error) {
    if (!(error instanceof RuntimeUnavailable)) throw error;
  }
  return lines;
};
