import { Text } from '@mantine/core';
import type { ProxyHost, WafExclusion } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';

/** Names of hosts by their uuid; undefined: not read yet. */
export type HostNames = ReadonlyMap<string, string> | undefined;

export const namesOf = (hosts: readonly ProxyHost[] | undefined): HostNames =>
  hosts && new Map(hosts.map(({ uuid, domain }) => [uuid, domain.split(',')[0] ?? domain]));

/** Whether attacks get through that the rule would see: it looks at nothing, or is left out everywhere. */
const isWide = ({ target, host_uuid, path }: WafExclusion): boolean =>
  target === undefined || (host_uuid === undefined && path === undefined);

/** An exclusion as a sentence: what no longer is looked at, and where. */
export const useInWords = (names: HostNames): ((exclusion: WafExclusion) => string) => {
  const { t } = useTranslation('firewall');
  const whereOf = ({ host_uuid, path }: WafExclusion): string => {
    if (host_uuid === undefined) return path === undefined ? t('everywhere') : t('onPath', { path });
    const host = names ? (names.get(host_uuid) ?? t('goneHost')) : host_uuid;
    return path === undefined ? t('onHost', { host }) : t('onHostPath', { host, path });
  };
  return (exclusion) => {
    const { rule_id, target } = exclusion;
    const isRange = !/^\d+$/.test(String(rule_id));
    return t(isRange ? 'inWordsRange' : 'inWords', {
      rule: rule_id,
      target: target ?? t('wholeRequest'),
      where: whereOf(exclusion),
    });
  };
};

/** The sentence, and a warning of those that let much through. */
export const InWords = ({ exclusion, names }: { exclusion: WafExclusion; names: HostNames }) => {
  const { t } = useTranslation('firewall');
  const inWords = useInWords(names);
  return (
    <div>
      <Text size="sm" className="foreign">
        {inWords(exclusion)}
      </Text>
      {isWide(exclusion) && (
        <Text size="xs" c="var(--warning-text)">
          {t('breadth.wideWhy')}
        </Text>
      )}
    </div>
  );
};
