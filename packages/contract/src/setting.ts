import { type Static, Type } from 'typebox';

export const Setting = Type.Object({ key: Type.String(), value: Type.String() }, { title: 'Setting' });
export type Setting = Static<typeof Setting>;

export const NewSetting = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 128 }),
  value: Type.String({ maxLength: 8_192 }),
});
export type NewSetting = Static<typeof NewSetting>;

/** What a setting holds, its default, and what it does; a key that is not here is refused. */
export interface SettingDefinition {
  type: 'boolean' | 'url' | 'text' | 'integer' | 'email';
  default: string;
  description: string;
  /** Never shown again once it was set. */
  isSecret?: boolean;
}

export const SETTINGS = {
  'app.public_url': {
    type: 'url',
    default: '',
    description: 'Public base URL of this service, used in invitation links. Empty: not configured.',
  },
  'feature.guard.enabled': { type: 'boolean', default: 'false', description: 'Master switch of the security suite.' },
  'security.acl.enabled': { type: 'boolean', default: 'false', description: 'Enforce access lists.' },
  'security.waf.enabled': { type: 'boolean', default: 'false', description: 'Run the web application firewall.' },
  'security.rate_limit.enabled': { type: 'boolean', default: 'false', description: 'Enforce the request rate limit.' },
  'security.crowdsec.enabled': {
    type: 'boolean',
    default: 'false',
    description: 'Run CrowdSec and enforce its decisions.',
  },
} as const satisfies Record<string, SettingDefinition>;
export type SettingKey = keyof typeof SETTINGS;
