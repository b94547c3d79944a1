import { lookAt, MOST_CERTIFICATES, type Pair, type Served } from '../certificates/pair.ts';
import { loss } from '../loss.ts';
import type { ImportedCertificate, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { createNames } from '../unique-names.ts';

/** A certificate that a database names. */
export interface NamedCertificate {
  name: string;
  /** Undefined where it is not all at hand. */
  pair: Pair | undefined;
  /** What to do where there is none, or it can not be used. */
  advice: string;
  /** Whether the product got it by itself, and renewed it. */
  isAutomatic?: boolean;
}

interface Taken {
  certificate?: ImportedCertificate;
  isAutomatic?: boolean;
  says: string[];
}

/**
 * Takes along the certificates that hosts ask for by their id, each looked at once: `of` says what a host gets, `taken` all that were
 * found good.
 */
export const createCertificates = (find: (id: number) => NamedCertificate | undefined) => {
  const nameFor = createNames();
  const known = new Map<number, Taken>();
  const take = (id: number): Taken => {
    const found = find(id);
    if (!found) return { says: [`its certificate ${id} is not in the database: upload it, or let one be issued`] };
    const { name, pair, advice, isAutomatic = false } = found;
    const about = (what: string) => ({ isAutomatic, says: [`its certificate ${shorten(name)} ${what}: ${advice}`] });
    if (!pair) return about('does not come along');
    if (known.size >= MOST_CERTIFICATES) return about(`is one of more than ${MOST_CERTIFICATES}`);
    const looked = lookAt(pair);
    if ('wrong' in looked) return about(looked.wrong);
    const { names } = looked;
    const certificate = {
      name: nameFor(shorten(name, 200)),
      names,
      certificatePem: pair.certificate,
      keyPem: pair.key,
    };
    return { certificate, isAutomatic, says: [] };
  };
  return {
    of(id: number, host: Place): Served {
      if (id === 0) return { losses: [] };
      const one = known.get(id) ?? take(id);
      known.set(id, one);
      const losses = one.says.map((message) => loss(host, message));
      const { isAutomatic = false } = one;
      return { losses, isAutomatic, ...(one.certificate && { certificate: one.certificate.name }) };
    },
    taken: (): ImportedCertificate[] => [...known.values()].flatMap(({ certificate }) => certificate ?? []),
  };
};
