import { mapFileChunks } from '../files/map-file.ts';
import type { DesiredHost } from '../model/desired.ts';
import type { HostTls } from '../reconcile/tls-entries.ts';
import { checkName, encodeRoute, InvalidRoute } from '../routes/route-record.ts';
import { baseChunks, writeBaseOnce, writeOverlay } from './route-files.ts';

/** Wants nothing of the certificate list but the best match for its own names, and says so for no wildcard. */
const isOrdinary = ({ certificate, flags, names }: DesiredHost): boolean =>
  certificate === null && flags.http2_support && !names.some((name) => name.startsWith('*'));

/**
 * Writes the files of the route maps. Keeps nothing of a host but its line and its names, which makes a million hosts a
 * matter of seconds; one that can't be served is left out. Resolves to what the certificate list has to know of the hosts.
 */
export const renderRoutes = async (
  directory: string,
  portions: AsyncIterable<readonly DesiredHost[]>,
): Promise<HostTls[]> => {
  const names = new Set<string>();
  const special: HostTls[] = [];
  const specialNames = new Set<string>();
  const chunks = [...baseChunks([])].map((header) => Buffer.from(header));

  /** Takes the names of a host, all or none; false when another host has one of them. Throws InvalidRoute. */
  const claim = (wanted: readonly string[]): boolean => {
    for (const name of wanted) checkName(name);
    // Asking first costs as much as adding, and nearly all hosts have one name.
    if (wanted.length > 1 && wanted.some((name) => names.has(name))) return false;
    const before = names.size;
    for (const name of wanted) names.add(name);
    return names.size > before;
  };

  function* lines(hosts: readonly DesiredHost[]): Generator<[string, string]> {
    for (const host of hosts) {
      try {
        const record = encodeRoute(host);
        if (!claim(host.names)) continue;
        for (const name of new Set(host.names)) yield [name, record];
        if (isOrdinary(host)) continue;
        special.push(host);
        for (const name of host.names) specialNames.add(name);
      } catch (error) {
        // Why is told by who reconciles.
        if (!(error instanceof InvalidRoute)) throw error;
      }
    }
  }

  for await (const hosts of portions) {
    for (const chunk of mapFileChunks([], lines(hosts))) chunks.push(Buffer.from(chunk));
  }
  await writeBaseOnce(directory, () => chunks);
  await writeOverlay(directory, []);
  const ordinary: HostTls = {
    names: specialNames.size > 0 ? names.difference(specialNames) : names,
    certificate: null,
    flags: { http2_support: true },
  };
  return [...special, ordinary];
};
