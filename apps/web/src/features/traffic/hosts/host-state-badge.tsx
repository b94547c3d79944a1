import type { ProxyHost } from '@sallyport/contract';
import type { TFunction } from 'i18next';
import { Hint } from '../../../ui/hint.tsx';
import { IconAlertTriangle } from '../../../ui/icons.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';
import classes from '../../../ui/table/row.module.css';
import { type HostState, stateOf } from './host-state.ts';

const KINDS: Readonly<Record<HostState, StateKind>> = {
  live: 'good',
  waiting: 'waiting',
  unserved: 'bad',
  disabled: 'off',
};

/** What the proxy makes of a host, with the reason, and what it will not do although its fields say so. */
export const HostStateBadge = ({ host, t }: { host: ProxyHost; t: TFunction<'traffic'> }) => {
  const state = stateOf(host);
  const { warnings } = host;
  return (
    <div className={classes.line}>
      <StateBadge kind={KINDS[state]} why={host.issue ?? t(`hosts.why.${state}`)}>
        {t(`hosts.states.${state}`)}
      </StateBadge>
      {warnings.length > 0 && (
        <Hint
          className={`${classes.warnings} ${classes.wide}`}
          picture={t('hosts.warnings', { count: warnings.length })}
          label={warnings.map(({ field, message }) => <div key={`${field} ${message}`}>{message}</div>)}
        >
          <IconAlertTriangle size={15} aria-hidden /> {warnings.length}
        </Hint>
      )}
    </div>
  );
};
