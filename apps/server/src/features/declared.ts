import type {
  AccessListFields,
  NotificationSettings,
  ProxyHostFields,
  RemoteServerFields,
  Ruleset,
  SecurityConfig,
  Setting,
} from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import type { State } from '@sallyport/store/history/state';
import type { Reverter } from './reverter.ts';

/** What names an object in the store. */
export interface Identified {
  id: number;
  uuid: string;
}

/** A kind of objects that a document describes: read all at once, and changed as everybody changes it. */
export interface Declared<T extends object> extends Pick<Reverter, 'policy' | 'prepare' | 'apply' | 'settle'> {
  all(executor: Executor): Promise<T[]>;
  /** All fields as they are to be stored, where something has to be found out for that. Throws a `Refusal`. */
  complete?(fields: State): Promise<State>;
}

/** All that can be configured as code. Objects of which there is one have one row. */
export interface DeclaredKinds {
  'remote-servers': Declared<RemoteServerFields & Identified>;
  'access-lists': Declared<AccessListFields & Identified>;
  'security/rulesets': Declared<Ruleset>;
  'proxy-hosts': Declared<ProxyHostFields & Identified>;
  'security/config': Declared<Omit<SecurityConfig, 'enabled'>>;
  'security/notifications/settings': Declared<NotificationSettings>;
  settings: Declared<Setting>;
}

/** A certificate that hosts can refer to. */
export interface NamedCertificate extends Identified {
  name: string;
  domains: string;
}
