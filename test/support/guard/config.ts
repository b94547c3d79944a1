import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';
import { guardConfigFile } from '@sallyport/deployment/places';

/** Rules that are small enough to load at once: what holds "attack" anywhere is refused. */
export const SMALL_RULES = `SecRuleEngine On
SecRequestBodyAccess On
SecRule REQUEST_HEADERS:Content-Type "@beginsWith application/json" "id:10,phase:1,pass,nolog,ctl:requestBodyProcessor=JSON"
SecRule ARGS|ARGS_NAMES|REQUEST_URI_RAW|REQUEST_HEADERS:X-Test|REQUEST_COOKIES "@contains attack" "id:1001,phase:2,deny,status:403,log,msg:'An attack',severity:CRITICAL"
SecRule REQUEST_BODY "@contains attack" "id:1002,phase:2,deny,status:403,log,msg:'An attack in the body',severity:CRITICAL"
`;

type Parts = {
  rules?: string;
  waf?: Partial<GuardConfig['waf']>;
  access?: GuardConfig['access'];
  hosts?: GuardConfig['hosts'];
  admin_whitelist?: string[];
};

/** A configuration with the firewall on and in block mode, by the small rules unless others are given. */
export const givenConfig = (revision: number, { rules = SMALL_RULES, waf = {}, ...rest }: Parts = {}): GuardConfig => ({
  revision,
  access: { enabled: false, lists: [] },
  waf: {
    enabled: true,
    mode: 'block',
    fail_mode: 'closed',
    rule_sources: [{ kind: 'text', path: 'test.conf', text: rules }],
    exclusions: [],
    ...waf,
  },
  admin_whitelist: [],
  hosts: [],
  ...rest,
});

/** Puts a configuration where guards look for it, whole or not at all. */
export const writeConfig = (dataDir: string, config: GuardConfig): void => {
  const path = guardConfigFile(dataDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, JSON.stringify(config), { mode: 0o600 });
  renameSync(`${path}.new`, path);
};
