import { FileSet } from '../file-set.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedCertificate, ImportWarning, Place, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { createNames } from '../unique-names.ts';
import { lookAt, MOST_CERTIFICATES, type Served } from './pair.ts';
import { certificatesIn, keyIn, tooLarge } from './pem.ts';

/** Files that a configuration names for a certificate. */
export interface NamedFiles {
  at: Place;
  certificate: string;
  /** Undefined where it is in the same file, or beside it with `.key` at the end. */
  key?: string | undefined;
}

/** A pair of files that was looked at. */
interface Looked {
  /** Undefined when it can not be used. */
  taken?: ImportedCertificate;
  says?: string;
}

/** What to do where there is none. */
export const NEEDED = 'each name needs a certificate: upload it beside the configuration, or let one be issued';

/** Whether a certificate for `own` is one for a host's name. */
const covers = (own: readonly string[], name: string): boolean =>
  own.includes(name) || own.includes(name.replace(/^[^.]*/, '*'));

/** What a host lacks whose certificate was not uploaded, and what to do. */
const missing = ({ at, certificate, key }: NamedFiles): Loss => {
  if (certificate.includes('-----BEGIN') || key?.includes('-----BEGIN'))
    return loss(
      at,
      'a certificate that is written in the configuration is not taken over: upload it with its key as files',
    );
  const withKey = key === undefined ? '' : ` with its key ${shorten(key)}`;
  return loss(
    at,
    `upload the certificate ${shorten(certificate)}${withKey} beside the configuration, or let one be issued`,
  );
};

/**
 * The certificates that were uploaded beside a configuration, PEM, found by the paths that it names. One is taken only for names that it
 * is for; none is looked at twice.
 */
export class Beside {
  readonly #files: FileSet;
  readonly #pems: readonly SourceFile[];
  readonly #looked = new Map<SourceFile, Map<SourceFile, Looked>>();
  readonly #used = new Set<SourceFile>();
  readonly #byChain = new Map<string, ImportedCertificate>();
  readonly #nameFor = createNames();

  constructor(pems: readonly SourceFile[]) {
    this.#pems = pems;
    this.#files = new FileSet(pems);
  }

  /** The one file that a path means; undefined for none, and for several of which nobody knows which one is meant. */
  #find(path: string): SourceFile | undefined {
    const [found, another] = this.#files.find(path);
    return another ? undefined : found;
  }

  #lookAt(file: SourceFile, keyFile: SourceFile): Looked {
    for (const one of [file, keyFile]) this.#used.add(one);
    const known = this.#looked.get(file) ?? new Map<SourceFile, Looked>();
    this.#looked.set(file, known);
    const looked = known.get(keyFile) ?? this.#take(file, keyFile);
    known.set(keyFile, looked);
    return looked;
  }

  #take(file: SourceFile, keyFile: SourceFile): Looked {
    const large = [file, keyFile].find(tooLarge);
    if (large) return { says: `${shorten(large.name)} is too large for a certificate with its key` };
    const certificatePem = certificatesIn(file);
    const keyPem = keyIn(keyFile);
    const shown = `the certificate ${shorten(file.name)}`;
    if (keyPem === undefined) return { says: `${shown} comes without its key, or its key needs a password` };
    if (this.#byChain.size >= MOST_CERTIFICATES) return { says: `${shown} is one of more than ${MOST_CERTIFICATES}` };
    const looked = lookAt({ certificate: certificatePem, key: keyPem });
    if ('wrong' in looked) return { says: `${shown} ${looked.wrong}` };
    const same = this.#byChain.get(certificatePem);
    if (same) return { taken: same };
    const name = this.#nameFor(shorten(looked.names[0] ?? file.name, 200));
    const taken = { name, names: looked.names, certificatePem, keyPem };
    this.#byChain.set(certificatePem, taken);
    return { taken };
  }

  #lookAtNamed({ certificate, key }: NamedFiles): Looked | undefined {
    const file = this.#find(certificate);
    if (!file) return undefined;
    const own = key ?? `${certificate}.key`;
    const keyFile = this.#find(own) ?? (key === undefined ? file : undefined);
    return keyFile && this.#lookAt(file, keyFile);
  }

  /** The first certificate among those that a place names that is for one of a host's names. What is missing is told with what to do. */
  serve(named: readonly NamedFiles[], names: readonly string[]): Served {
    const losses: Loss[] = [];
    for (const one of named) {
      const looked = this.#lookAtNamed(one);
      if (!looked) {
        losses.push(missing(one));
        continue;
      }
      const { taken, says } = looked;
      if (!taken) {
        losses.push(loss(one.at, `${says}: ${NEEDED}`));
        continue;
      }
      const others = names.filter((name) => !covers(taken.names, name));
      if (others.length === names.length) {
        const message = `the certificate ${shorten(one.certificate)} is for ${shorten(taken.names.join(', ') || 'no name')} and is not taken over: ${NEEDED}`;
        losses.push(loss(one.at, message));
        continue;
      }
      if (others.length > 0)
        losses.push(loss(one.at, `the certificate ${taken.name} is not for ${shorten(others.join(', '))}`));
      return { certificate: taken.name, losses };
    }
    return { losses };
  }

  /** What a path names: a file, or all files of a directory. */
  within(path: string, at: Place): NamedFiles[] {
    const file = path.endsWith('/') ? undefined : this.#find(path);
    if (file) return [{ at, certificate: path }];
    return this.#files.below(path).map(({ name }) => ({ at, certificate: name }));
  }

  /** All certificates that were uploaded. */
  all(at: Place): NamedFiles[] {
    return this.#pems.map(({ name }) => ({ at, certificate: name }));
  }

  /** Chooses among certificates by name, as a proxy does when a visitor comes; undefined for names that none is for. */
  choice(named: readonly NamedFiles[]): (names: readonly string[]) => string | undefined {
    const byName = new Map<string, ImportedCertificate>();
    for (const one of named) {
      const taken = this.#lookAtNamed(one)?.taken;
      for (const name of taken?.names ?? []) if (taken && !byName.has(name)) byName.set(name, taken);
    }
    return (names) => {
      const [first = ''] = names;
      const found = byName.get(first) ?? byName.get(first.replace(/^[^.]*/, '*'));
      return found && names.every((name) => covers(found.names, name)) ? found.name : undefined;
    };
  }

  /** Those of the named files that were not uploaded, with what to do. */
  lacking(named: readonly NamedFiles[]): ImportWarning[] {
    return named.filter((one) => !this.#lookAtNamed(one)).map((one) => missing(one).warning);
  }

  /** The certificates that hosts were given. */
  taken(hosts: readonly { certificate?: string }[]): ImportedCertificate[] {
    const used = new Set(hosts.map(({ certificate }) => certificate));
    return [...this.#byChain.values()].filter(({ name }) => used.has(name));
  }

  /** Files that nothing in the configuration names. */
  unused(): ImportWarning[] {
    return this.#pems
      .filter((file) => !this.#used.has(file))
      .map(({ name }) =>
        warn({ file: name, line: 1 }, 'nothing in the configuration names this certificate or key: it is left out'),
      );
  }
}
