import { Alert, Button, Group } from '@mantine/core';
import type { CrowdsecStart, CrowdsecStatus } from '@sallyport/contract';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { notifyAttention, notifyDone } from '../../../ui/notify.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';
import { Starting } from './starting.tsx';

const TOUCHED = ['/admin/crowdsec', '/security'] as const;

const KINDS: Record<CrowdsecStatus['status'], StateKind> = {
  running: 'good',
  starting: 'waiting',
  stopped: 'off',
  failed: 'bad',
  not_installed: 'off',
};

/** Starts and stops it, and tells how far it is. `children`: what else decides whether it runs. */
export const Running = ({ status, children }: { status: CrowdsecStatus; children: ReactNode }) => {
  const { t } = useTranslation('crowdsec');
  const { isAdmin } = useWho();
  const starting = useChange<CrowdsecStart>(TOUCHED);
  const stopping = useChange(TOUCHED);
  const isUp = status.status === 'running';
  const isComing = starting.isPending || status.status === 'starting';

  const start = () =>
    starting.mutate(
      { method: 'POST', path: '/admin/crowdsec/start' },
      {
        onSuccess: ({ data }) => (data.lapi_ready ? notifyDone(t('started')) : notifyAttention(t('startedSlow'))),
      },
    );
  const stop = async () => {
    await stopping.mutateAsync({ method: 'POST', path: '/admin/crowdsec/stop' });
    notifyDone(t('stopped'));
  };

  return (
    <Panel
      title={t('tabs.state')}
      aside={
        <StateBadge kind={isComing ? 'waiting' : KINDS[status.status]}>
          {t(`states.${isComing ? 'starting' : status.status}`)}
        </StateBadge>
      }
    >
      {status.issue !== null && (
        <Alert color={status.status === 'failed' ? 'red' : 'yellow'} className="foreign">
          {status.issue}
        </Alert>
      )}
      {isComing && <Starting status={status} />}
      {!isUp && <Problem error={starting.error} />}
      {isAdmin && (
        <Group gap="xs">
          {!isUp && (
            <Button loading={isComing} onClick={start}>
              {t('start')}
            </Button>
          )}
          {(isUp || isComing || status.status === 'failed') && (
            <Confirm
              title={t('stopTitle')}
              action={t('stop')}
              onConfirm={stop}
              trigger={(open) => (
                <Button variant="default" onClick={open}>
                  {t('stop')}
                </Button>
              )}
            >
              {t('stopAbout')}
            </Confirm>
          )}
        </Group>
      )}
      {children}
    </Panel>
  );
};
