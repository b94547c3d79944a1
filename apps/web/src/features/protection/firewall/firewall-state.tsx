import { Alert, Anchor, Group, Text } from '@mantine/core';
import type { SecurityStatus } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useWho } from '../../../app/who.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';

/** Whether a change of the firewall acts at once, and so may lock out. */
export const isActing = ({ enabled, waf }: SecurityStatus): boolean => enabled && waf.enabled;

/** What the firewall does at this moment. */
export const FirewallState = ({ status }: { status: SecurityStatus }) => {
  const { t } = useTranslation('firewall');
  const { isAdmin } = useWho();
  const { enabled, waf, applied, issue } = status;
  if (!isActing(status)) {
    return (
      <Alert color="yellow" title={t(waf.enabled ? 'state.ready' : 'state.off')}>
        <Text size="sm">{t(waf.enabled ? 'state.readyAbout' : 'state.offAbout')}</Text>
        {isAdmin && (
          <Anchor component={Link} to="/security" size="sm" c="inherit" underline="always">
            {t('state.toSwitch')}
          </Anchor>
        )}
      </Alert>
    );
  }
  return (
    <Group gap="xs">
      <StateBadge kind={waf.mode === 'block' ? 'good' : 'warning'}>
        {t(waf.mode === 'block' ? 'state.acts' : 'state.reports')}
      </StateBadge>
      {enabled && !applied && (
        <StateBadge kind="bad" why={issue}>
          {t('state.notEnforced')}
        </StateBadge>
      )}
      {isAdmin && (
        <Anchor component={Link} to="/blocks?layer=waf" size="sm">
          {t('refused')}
        </Anchor>
      )}
    </Group>
  );
};
