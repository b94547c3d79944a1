import { formatNetwork, parseNetwork } from '@sallyport/access';
import { AccessList, Decision, NotificationSettings, Ruleset, SecurityConfig } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import type { Row } from '@sallyport/store/snapshot/read-tables';
import { normaliseSetup } from '../../dataplane/protection/waf-setup.ts';
import { checkEach, checkWritten, createRowCheck } from '../check-row.ts';
import { checkNotifications } from './notifications/service.ts';
import { createRuleCheck } from './rulesets/check-rules.ts';
import { findCoreRuleSet } from './rulesets/core-rule-set.ts';
import { parseSourceUrl } from './rulesets/service.ts';
import { normaliseExclusions } from './suite/exclusions.ts';
import { normaliseNetworks } from './suite/network-list.ts';
import { securityStore } from './suite/store.ts';

/** Rows of which there is one. */
const checkOnly = ({ id }: Row): void => {
  if (id !== 1) throw new Error('there is more than one');
};

/** What it names is judged whenever it is called; here that it is a URL of the kind. */
const checkWebhook = (url: unknown): void => {
  if (url !== '' && !(URL.canParse(String(url)) && String(url).startsWith('https://'))) {
    throw new Error('webhook_url is no https:// URL');
  }
};

const lists = () => {
  const isList = createRowCheck(AccessList);
  return async (row: Row): Promise<void> => {
    const { rules } = (await isList(row)) as unknown as AccessList;
    for (const { cidr } of rules) checkWritten('a rule', cidr, formatNetwork(parseNetwork(cidr)));
  };
};

const bans = () => {
  const isDecision = createRowCheck(Decision);
  return async (row: Row): Promise<void> => {
    await isDecision(row);
    checkWritten('ip', row.ip, formatNetwork(parseNetwork(String(row.ip))));
  };
};

const rulesets = (db: Executor) => {
  const isRuleset = createRowCheck(Ruleset);
  const { check } = createRuleCheck(findCoreRuleSet, () => securityStore(db).largestBodyLimit());
  return async (row: Row): Promise<void> => {
    const { name, mode, content, source_url } = (await isRuleset(row)) as unknown as Ruleset;
    if (name === '') throw new Error('name is empty');
    checkWritten('name', name, name.trim());
    checkWritten('source_url', source_url, parseSourceUrl(source_url));
    // Where there is no Core Rule Set, what goes with it refuses, and says so.
    if (mode === 'owasp' && !findCoreRuleSet()) return;
    // How many rules it was counted to have is nothing to refuse it for: an engine and a Core Rule Set of another version count others.
    await check(name, content, mode);
  };
};

const suite = () => {
  const isConfig = createRowCheck(SecurityConfig);
  return async (row: Row): Promise<void> => {
    checkOnly(row);
    const config = (await isConfig(row)) as unknown as SecurityConfig;
    for (const field of ['admin_whitelist', 'rate_limit_bypass_list'] as const) {
      checkWritten(field, config[field], normaliseNetworks(config[field], field));
    }
    const { waf_allowed_methods, waf_allowed_content_types } = config;
    const setup = normaliseSetup({ waf_allowed_methods, waf_allowed_content_types });
    checkWritten('waf_allowed_methods', waf_allowed_methods, setup.waf_allowed_methods);
    checkWritten('waf_allowed_content_types', waf_allowed_content_types, setup.waf_allowed_content_types);
    normaliseExclusions(config.waf_exclusions);
    checkWebhook(config.webhook_url);
  };
};

const notifications = () => {
  const isSettings = createRowCheck(NotificationSettings);
  return async (row: Row): Promise<void> => {
    checkOnly(row);
    const settings = (await isSettings(row)) as unknown as NotificationSettings;
    checkNotifications(settings);
    checkWebhook(settings.webhook_url);
  };
};

/**
 * Looks whether what the security suite of a store enforces is such that it could have been configured here, before it comes into
 * use: a list or a ban that does not parse protects nobody, and keeps what waits for it from being in force. Throws a `Refusal`
 * (400) that names the first that is not.
 */
export const checkStoredProtection = async (db: Executor): Promise<void> => {
  await checkEach(db, 'security_config', () => 'the security configuration', suite());
  await checkEach(db, 'notification_settings', () => 'the notification settings', notifications());
  await checkEach(db, 'access_lists', ({ name }) => `access list ${name}`, lists());
  await checkEach(db, 'decisions', ({ ip }) => `the ban of ${ip}`, bans());
  await checkEach(db, 'rulesets', ({ name }) => `ruleset ${name}`, rulesets(db));
};
