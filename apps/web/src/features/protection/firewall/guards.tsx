import { Anchor, Text } from '@mantine/core';
import type { ProxyHost } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { formatNumber } from '../../../i18n/formats.ts';

/** For how many hosts the rules count. */
export const Guards = () => {
  const { t } = useTranslation('firewall');
  const { data } = useRead<ProxyHost[]>('/proxy-hosts');
  if (!data) return null;
  const count = data.filter(({ waf_enabled }) => waf_enabled).length;
  return (
    <Text size="sm">
      <Anchor component={Link} to="/firewall/hosts" inherit>
        {t('guards', { count, all: formatNumber(data.length) })}
      </Anchor>
    </Text>
  );
};
