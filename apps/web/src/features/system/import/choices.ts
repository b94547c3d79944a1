import type { ImportCommit, ImportPreviewHost } from '@sallyport/contract';

type Strategy = NonNullable<ImportCommit['resolutions']>[string];

/** What is to become of a host: by its whole `domain`. */
export type Choices = Readonly<Record<string, Strategy>>;

export const isTaken = ({ conflicts }: ImportPreviewHost): boolean => conflicts.length > 0;

/** Hosts whose names are taken, and about which nothing was decided. */
export const undecidedOf = (hosts: readonly ImportPreviewHost[], choices: Choices): number =>
  hosts.filter((host) => isTaken(host) && choices[host.domain] === undefined).length;

/** How many hosts the commit would bring. */
export const importedOf = (hosts: readonly ImportPreviewHost[], choices: Choices): number =>
  hosts.filter(({ issue, domain }) => issue === null && !['keep', 'skip'].includes(choices[domain] ?? '')).length;
