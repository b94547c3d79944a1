import { Anchor, Group, Switch, Text } from '@mantine/core';
import type { SecurityConfig, SecurityStatus } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { CONFIRM_SECONDS, TOUCHED } from '../security/stored.ts';

interface AlwaysProps {
  suite: SecurityStatus;
  mode: SecurityConfig['crowdsec_mode'] | undefined;
}

/** Whether it runs by itself, and whether whom it bans is refused. */
export const Always = ({ suite, mode }: AlwaysProps) => {
  const { t } = useTranslation('crowdsec');
  const { isAdmin } = useWho();
  const { mutate, isPending, error } = useChange([...TOUCHED, '/admin/crowdsec']);
  const isOn = suite.crowdsec.enabled;
  const turn = (value: boolean) =>
    mutate({
      method: 'POST',
      path: '/settings',
      body: { key: 'security.crowdsec.enabled', value: String(value) },
      // What is switched on may stop whoever did it.
      query: { confirm_within: value && suite.enabled ? CONFIRM_SECONDS : undefined },
    });
  return (
    <div>
      {isAdmin ? (
        <Switch
          label={t('always')}
          description={t(isOn ? 'alwaysOn' : 'alwaysOff')}
          checked={isOn}
          disabled={isPending}
          onChange={({ currentTarget }) => turn(currentTarget.checked)}
        />
      ) : (
        <Text size="sm">{t(isOn ? 'alwaysOn' : 'alwaysOff')}</Text>
      )}
      {!isOn && mode === 'local' && (
        <Text size="sm" mt="xs">
          {t('byMode')}
        </Text>
      )}
      {isOn && !suite.enabled && (
        <Group gap="xs" mt="xs">
          <StateBadge kind="warning">{t('suiteOff')}</StateBadge>
          <Anchor component={Link} to="/security" size="sm">
            {t('toSecurity')}
          </Anchor>
        </Group>
      )}
      <Problem error={error} />
    </div>
  );
};
