import { Alert, Button, Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core';
import type { Block, SecurityConfigAnswer, WafExclusion } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';

const HOUR_MS = 3_600_000;
const ENDS = { never: undefined, hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS, month: 720 * HOUR_MS } as const;
type End = keyof typeof ENDS;
type Where = 'path' | 'host' | 'all';
type Which = 'target' | 'all';

interface Scope {
  where: Where;
  which: Which;
  end: End;
}

const scoped = (exclusion: WafExclusion, { where, which, end }: Scope): WafExclusion => {
  const { rule_id, target, host_uuid, path, description } = exclusion;
  const lasts = ENDS[end];
  return {
    rule_id,
    ...(which === 'target' && target !== undefined ? { target } : {}),
    ...(where !== 'all' && host_uuid !== undefined ? { host_uuid } : {}),
    ...(where === 'path' && path !== undefined ? { path } : {}),
    ...(description === undefined ? {} : { description }),
    ...(lasts === undefined ? {} : { expires_at: new Date(Date.now() + lasts).toISOString() }),
  };
};

const keyOf = ({ rule_id, target }: WafExclusion): string => `${rule_id} ${target ?? ''}`;

/** What would be left out, in words. */
const InWords = ({ exclusion, host }: { exclusion: WafExclusion; host: string }) => {
  const { t } = useTranslation('protection');
  const { rule_id, target, host_uuid, path } = exclusion;
  const words = () => {
    if (host_uuid !== undefined)
      return path === undefined ? t('blocks.onHost', { host }) : t('blocks.onHostPath', { host, path });
    return path === undefined ? t('blocks.everywhere') : t('blocks.onPath', { path });
  };
  return (
    <Text size="sm" className="foreign" component="span">
      {t('blocks.inWords', { rule: rule_id, target: target ?? t('blocks.wholeRequest'), where: words() })}
    </Text>
  );
};

/** Shows which rules would be left out, where and until when, and does it when told so. */
export const Allow = ({ block }: { block: Block }) => {
  const { t } = useTranslation('protection');
  const [left, setLeft] = useState<readonly string[]>([]);
  const [scope, setScope] = useState<Scope>({ where: 'path', which: 'target', end: 'never' });
  const [isDone, setDone] = useState(false);
  const { mutateAsync, isPending, error } = useChange<SecurityConfigAnswer>(['/security']);
  const chosen = block.exclusions.filter((one) => !left.includes(keyOf(one)));
  const path = block.exclusions.find((one) => one.path !== undefined)?.path;
  const hasHost = block.exclusions.some((one) => one.host_uuid !== undefined);
  const hasTarget = block.exclusions.some((one) => one.target !== undefined);

  const allow = async () => {
    // Several rules may have found the same: wider ones are made once.
    const bodies = new Map(chosen.map((one) => scoped(one, scope)).map((one) => [keyOf(one), one]));
    for (const body of bodies.values()) await mutateAsync({ method: 'POST', path: '/security/exclusions', body });
    setDone(true);
    notifyDone(t('blocks.allowed'));
  };

  if (isDone) {
    return (
      <Alert color="verdigris" title={t('blocks.allowed')} role="status">
        {t('blocks.allowedAbout')}
      </Alert>
    );
  }
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t('blocks.allowAbout')}
      </Text>
      {block.exclusions.map((exclusion) => (
        <Checkbox
          key={keyOf(exclusion)}
          checked={!left.includes(keyOf(exclusion))}
          onChange={({ currentTarget }) =>
            setLeft(
              currentTarget.checked ? left.filter((one) => one !== keyOf(exclusion)) : [...left, keyOf(exclusion)],
            )
          }
          label={<InWords exclusion={scoped(exclusion, scope)} host={block.host} />}
        />
      ))}
      <Group grow preventGrowOverflow={false} align="flex-start">
        <NativeSelect
          label={t('blocks.where')}
          miw={150}
          value={scope.where}
          onChange={({ currentTarget }) => setScope({ ...scope, where: currentTarget.value as Where })}
          data={[
            ...(path === undefined
              ? []
              : [{ value: 'path', label: t(hasHost ? 'blocks.whereOne' : 'blocks.wherePath', { path }) }]),
            ...(hasHost ? [{ value: 'host', label: t('blocks.whereHost') }] : []),
            { value: 'all', label: t('blocks.whereAll') },
          ]}
        />
        {hasTarget && (
          <NativeSelect
            label={t('blocks.which')}
            miw={150}
            value={scope.which}
            onChange={({ currentTarget }) => setScope({ ...scope, which: currentTarget.value as Which })}
            data={[
              { value: 'target', label: t('blocks.whichTarget') },
              { value: 'all', label: t('blocks.whichAll') },
            ]}
          />
        )}
        <NativeSelect
          label={t('blocks.until')}
          miw={150}
          value={scope.end}
          onChange={({ currentTarget }) => setScope({ ...scope, end: currentTarget.value as End })}
          data={[
            { value: 'never', label: t('blocks.untilNever') },
            { value: 'hour', label: t('blocks.untilHour') },
            { value: 'day', label: t('blocks.untilDay') },
            { value: 'week', label: t('blocks.untilWeek') },
            { value: 'month', label: t('blocks.untilMonth') },
          ]}
        />
      </Group>
      <Text size="sm">{t('blocks.letsThrough')}</Text>
      <Problem error={error} />
      <Group>
        <Button loading={isPending} disabled={chosen.length === 0} onClick={() => void allow().catch(() => {})}>
          {t('blocks.allowNow')}
        </Button>
      </Group>
    </Stack>
  );
};
