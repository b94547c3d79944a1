import type { DescribedSetting } from '@sallyport/contract';

/** Groups of settings, in the order they are shown; a group has the keys that begin with one of its words. */
export const GROUPS = [
  { name: 'app', of: ['app.', 'auth.'] },
  { name: 'mail', of: ['smtp.'] },
  { name: 'backup', of: ['backup.'] },
  { name: 'acme', of: ['acme.'] },
  { name: 'keeping', of: ['audit.', 'history.', 'security.block_log.'] },
  { name: 'security', of: ['feature.', 'security.'] },
  { name: 'other', of: [''] },
] as const;
export type GroupName = (typeof GROUPS)[number]['name'];

const groupOf = ({ key }: DescribedSetting): GroupName =>
  GROUPS.find(({ of }) => of.some((beginning) => key.startsWith(beginning)))?.name ?? 'other';

/** Settings by group; those of the server that no group names are not lost. */
export const grouped = (settings: readonly DescribedSetting[]): { name: GroupName; settings: DescribedSetting[] }[] =>
  GROUPS.map(({ name }) => ({ name, settings: settings.filter((setting) => groupOf(setting) === name) })).filter(
    (group) => group.settings.length > 0,
  );
