import type { createThread } from './in-thread.ts';
import type { createJudgeRelayed } from './judge-relayed.ts';
import type { ToThread } from './protocol.ts';

export interface ServeRelayDeps {
  thread: ReturnType<typeof createThread>;
  relayed: ReturnType<typeof createJudgeRelayed>;
  /** Awaited before the thread calls itself retired: whatever else it answers ends here. */
  leave(): Promise<void>;
}

/** Does what a thread of either kind is told: new configurations, the relay's questions, and to retire. */
export const serveRelay = ({ thread, relayed, leave }: ServeRelayDeps): void => {
  const retire = async (lingerMs: number): Promise<void> => {
    await leave();
    thread.say({ type: 'retired' });
    await relayed.finish(lingerMs);
    thread.close();
  };

  thread.port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'config':
        thread.adopt(message.config);
        return;
      case 'retire':
        void retire(message.lingerMs);
        return;
      case 'end':
        relayed.end(message.id);
        return;
      case 'request':
      case 'response':
        relayed.ask(message);
        return;
      default:
        message satisfies never;
    }
  });
};
