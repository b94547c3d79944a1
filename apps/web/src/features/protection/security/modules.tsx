import { Anchor, Box, Group, Stack, Switch, Text } from '@mantine/core';
import type { SecurityStatus } from '@sallyport/contract';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import classes from './modules.module.css';
import { CONFIRM_SECONDS, TOUCHED } from './stored.ts';

type Switchable = 'rate_limit' | 'acl' | 'waf' | 'crowdsec';

interface Row {
  name: 'decisions' | Switchable;
  /** What it does as it is set now. */
  effect: string;
  isOn: boolean;
  /** The screen that is about it, for who may look at it. */
  path?: string;
}

/** The parts of the suite in the order in which they judge, each with its switch and what that does. */
export const Modules = ({ status }: { status: SecurityStatus }) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const { mutate, isPending, error, variables } = useChange(TOUCHED);
  const { waf, acl, rate_limit, crowdsec } = status;
  const wafEffect = waf.mode === 'monitor' ? 'security.order.wafMonitor' : 'security.order.wafBlock';
  const rows: Row[] = [
    { name: 'decisions', isOn: true, effect: t('security.order.decisionsOn'), path: '/decisions' },
    {
      name: 'rate_limit',
      isOn: rate_limit.enabled,
      effect: t(rate_limit.enabled ? 'security.order.rate_limitOn' : 'security.order.rate_limitOff'),
    },
    {
      name: 'acl',
      isOn: acl.enabled,
      effect: t(acl.enabled ? 'security.order.aclOn' : 'security.order.aclOff'),
      path: '/access-lists',
    },
    {
      name: 'waf',
      isOn: waf.enabled,
      effect: t(waf.enabled ? wafEffect : 'security.order.wafOff'),
      path: '/firewall',
    },
    {
      name: 'crowdsec',
      isOn: crowdsec.enabled,
      effect: t(crowdsec.enabled ? 'security.order.crowdsecOn' : 'security.order.crowdsecOff'),
      path: '/crowdsec',
    },
  ];

  const turn = (name: Switchable, isOn: boolean) => {
    // What is switched off stops nobody any more; what is switched on may stop whoever did it.
    const isRisky = isOn && status.enabled;
    mutate({
      method: 'POST',
      path: '/settings',
      body: { key: `security.${name}.enabled`, value: String(isOn) },
      query: { confirm_within: isRisky ? CONFIRM_SECONDS : undefined },
    });
  };
  const turning = (variables?.body as { key?: string } | undefined)?.key;

  const stateOf = (isOn: boolean): ReactNode => {
    if (!isOn) return <StateBadge kind="off">{t('security.off')}</StateBadge>;
    if (!status.enabled) return <StateBadge kind="waiting">{t('security.ready')}</StateBadge>;
    return (
      <StateBadge kind={status.applied ? 'good' : 'bad'} why={status.issue}>
        {t(status.applied ? 'security.acts' : 'security.notEnforced')}
      </StateBadge>
    );
  };

  return (
    <Panel title={t('security.modules')} about={t('security.modulesAbout')}>
      <Stack component="ol" gap={0} className={classes.list}>
        {rows.map(({ name, isOn, effect, path }) => {
          const label = t(`security.order.${name}`);
          return (
            <li key={name} className={classes.row}>
              <Box flex="1 1 16rem">
                <Text fw={500} size="sm">
                  {path === undefined ? (
                    label
                  ) : (
                    <Anchor component={Link} to={path} inherit>
                      {label}
                    </Anchor>
                  )}
                </Text>
                <Text size="sm" c="dimmed">
                  {effect}
                </Text>
              </Box>
              <Group gap="sm" wrap="nowrap">
                {stateOf(isOn)}
                {isAdmin && name !== 'decisions' ? (
                  <Switch
                    aria-label={t('security.switchOf', { name: label })}
                    checked={isOn}
                    disabled={isPending && turning === `security.${name}.enabled`}
                    onChange={({ currentTarget }) => turn(name, currentTarget.checked)}
                  />
                ) : (
                  <Box w={isAdmin ? 38 : 0} />
                )}
              </Group>
            </li>
          );
        })}
      </Stack>
      <Problem error={error} />
    </Panel>
  );
};
