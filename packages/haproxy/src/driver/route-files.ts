import { dataPlaneFiles, inDirectory } from '../config/layout.ts';
import { holdsText, writeFileAtomically } from '../files/atomic-file.ts';
import { mapFileChunks } from '../files/map-file.ts';

type Entries = Iterable<readonly [string, string]>;

const baseHeader = [
  'name, space, record: flags|address|port|server name|host id (flags: sums of the bits in haproxy.cfg), or "off".',
  'Written by Sallyport; hosts-overlay.map wins over this file.',
];
const overlayHeader = ['Recent changes, same form as hosts.map; "none" removes a name.'];

/** The text of the base map's file, in chunks. */
export const baseChunks = (entries: Entries): Iterable<string> => mapFileChunks(baseHeader, entries);

/** Writes the base map's file. */
export const writeBase = (directory: string, chunks: Iterable<string | Uint8Array>): Promise<void> =>
  writeFileAtomically(inDirectory(directory, dataPlaneFiles.hostsMap), chunks, { durable: true });

/** Writes the base map's file unless it holds just that: before each start of HAProxy it mostly does. */
export const writeBaseOnce = async (directory: string, chunks: () => Iterable<string | Uint8Array>): Promise<void> => {
  const path = inDirectory(directory, dataPlaneFiles.hostsMap);
  if (!(await holdsText(path, chunks()))) await writeBase(directory, chunks());
};

/** Writes the overlay map's file. Not synced: after a power failure it is written anew from the store, before HAProxy starts. */
export const writeOverlay = (directory: string, entries: Entries): Promise<void> =>
  writeFileAtomically(inDirectory(directory, dataPlaneFiles.overlayMap), mapFileChunks(overlayHeader, entries), {
    durable: false,
  });
