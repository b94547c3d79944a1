import type { ConfigSection } from '@sallyport/contract';
import type { DeclaredKinds } from '../declared.ts';

/** The kind of objects that a section of a document describes: the path of its changes in the history. */
export const KIND_OF = {
  settings: 'settings',
  security: 'security/config',
  notifications: 'security/notifications/settings',
  remote_servers: 'remote-servers',
  access_lists: 'access-lists',
  rulesets: 'security/rulesets',
  proxy_hosts: 'proxy-hosts',
} as const satisfies Record<ConfigSection, keyof DeclaredKinds>;

/** In the order in which a document has them. */
export const SECTIONS = Object.keys(KIND_OF) as ConfigSection[];

/** Sections that are lists of objects with names. */
export type ListSection = 'remote_servers' | 'access_lists' | 'rulesets' | 'proxy_hosts';
