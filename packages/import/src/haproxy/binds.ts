import type { Beside, NamedFiles } from '../certificates/beside.ts';
import { type Loss, loss } from '../loss.ts';
import { shorten } from '../shorten.ts';
import { once } from './once.ts';
import type { Line, Section } from './parse.ts';

const EVERYWHERE = new Set(['', '*', '0.0.0.0', '::', '[::]', 'ipv4@', 'ipv6@', 'ipv4@*', 'ipv6@*']);

const bindsOf = once(({ lines }): Line[] => lines.filter(({ words }) => words[0] === 'bind'));

/** Whether a frontend has a door with TLS. */
export const speaksTls = (frontend: Section): boolean => bindsOf(frontend).some(({ words }) => words.includes('ssl'));

/** Whether a frontend has a door without TLS. */
export const speaksPlain = (frontend: Section): boolean =>
  bindsOf(frontend).some(({ words }) => !words.includes('ssl'));

/** The certificates that the doors of a frontend have, as `crt` and `crt-list` name them. */
export const certificatesOf = (frontend: Section, beside: Beside): NamedFiles[] =>
  bindsOf(frontend).flatMap(({ at, words }) =>
    words.flatMap((word, index) => {
      if (word === 'crt') return beside.within(words[index + 1] ?? '', at);
      // Which one is for whom the list says: here the names do.
      return word === 'crt-list' ? beside.all(at) : [];
    }),
  );

/** What to do for a host without a certificate behind a frontend that has a door with TLS. */
export const lacksCertificate = once((frontend): Loss[] =>
  bindsOf(frontend)
    .filter(({ words }) => words.includes('ssl'))
    .slice(0, 1)
    .map(({ at, words }) => {
      const path = words[words.indexOf('crt') + 1] ?? '';
      const named = words.includes('crt') ? ` (${shorten(path)})` : '';
      const message = `each name needs a certificate: upload it with its key, PEM, beside the configuration${named}, or let one be issued`;
      return loss(at, message);
    }),
);

/** What is lost of where a frontend is reached, and by whom. */
export const lossesOfBinds = once((frontend): Loss[] => {
  const losses: Loss[] = [];
  for (const { at, words } of bindsOf(frontend)) {
    const [, address = words[1] ?? '', port = ''] = /^(.*?):(\d+)$/.exec(words[1] ?? '') ?? [];
    if (!EVERYWHERE.has(address) || words.includes('interface')) {
      const message = `bind ${shorten(words.slice(1).join(' '))}: the host is reached at every address that the proxy listens on`;
      losses.push(loss(at, message, true));
    } else if (port !== '80' && port !== '443') {
      losses.push(loss(at, `port ${port}: the host is reached at the ports that the proxy listens on`));
    }
    if (words.includes('verify') || words.includes('ca-file')) {
      losses.push(loss(at, 'bind asks clients for a certificate, which is not taken over', true));
    }
  }
  return losses;
});
