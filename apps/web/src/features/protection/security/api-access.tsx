import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { urlOf } from '../../../api/client.ts';
import { Panel } from '../../../ui/panel.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';

/** Asks without saying who asks: whether the API answers anybody who gets here. */
const useIsOpenFromHere = () =>
  useQuery({
    queryKey: ['without-sign-in'],
    queryFn: async ({ signal }) =>
      (await fetch(urlOf('/security/status'), { credentials: 'omit', cache: 'no-store', signal })).ok,
  });

/** Who may call the API, as it was found out from here. */
export const ApiAccess = () => {
  const { t } = useTranslation('protection');
  const { data: isOpen } = useIsOpenFromHere();
  return (
    <Panel
      title={t('security.apiAuth')}
      about={t('security.apiAuthAbout')}
      aside={
        isOpen !== undefined && (
          <StateBadge kind={isOpen ? 'warning' : 'good'}>
            {t(isOpen ? 'security.apiOpen' : 'security.apiAsks')}
          </StateBadge>
        )
      }
    >
      {isOpen !== undefined && <Text size="sm">{t(isOpen ? 'security.apiOpenAbout' : 'security.apiAsksAbout')}</Text>}
    </Panel>
  );
};
