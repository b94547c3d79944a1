import { Alert, Anchor, Button, Group, Stack, Table, Text } from '@mantine/core';
import type { Ruleset, SecurityConfigAnswer } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useChange, useRead } from '../../../../api/query.ts';
import { useWho } from '../../../../app/who.ts';
import { formatNumber } from '../../../../i18n/formats.ts';
import { Empty } from '../../../../ui/empty.tsx';
import { IconPlus } from '../../../../ui/icons.ts';
import { Moment } from '../../../../ui/moment.tsx';
import { notifyDone } from '../../../../ui/notify.ts';
import { Problem } from '../../../../ui/problem.tsx';
import { StateBadge } from '../../../../ui/state-badge.tsx';
import { WideTable } from '../../../../ui/table/wide-table.tsx';
import { batchOf, offerUndo } from '../../../../ui/undo.tsx';
import { CONFIRM_SECONDS, TOUCHED, useConfig, useStatus } from '../../security/stored.ts';
import { FirewallPage } from '../firewall-page.tsx';
import { FirewallState, isActing } from '../firewall-state.tsx';
import { Guards } from '../guards.tsx';

/** What `waf_rules_source` calls the installed rules. */
const CORE = 'owasp';

const MODES = { owasp: 'withCore', custom: 'alone' } as const;

interface Row {
  name: string;
  set: Ruleset | undefined;
}

/** The rule sets that there are, and which of them judges. */
export const Rulesets = () => {
  const { t } = useTranslation('firewall');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const status = useStatus();
  const config = useConfig();
  const sets = useRead<{ rulesets: Ruleset[] }>('/security/rulesets');
  const { mutateAsync, isPending, variables, error } = useChange<SecurityConfigAnswer>(TOUCHED);
  const chosen = config.data?.data.config?.waf_rules_source ?? CORE;
  const rulesets = sets.data?.rulesets;
  const isMissing = rulesets !== undefined && chosen !== CORE && !rulesets.some(({ name }) => name === chosen);
  const acting = status.data !== undefined && isActing(status.data);
  const using = (variables?.body as { waf_rules_source?: string } | undefined)?.waf_rules_source;
  const titleOf = (name: string) => (name === CORE ? t('core') : name);

  const use = async (name: string) => {
    const answer = await mutateAsync({
      method: 'POST',
      path: '/security/config',
      body: { waf_rules_source: name },
      query: { confirm_within: acting ? CONFIRM_SECONDS : undefined },
    });
    if (acting) notifyDone(t('savedPending'));
    else offerUndo(t('used', { name: titleOf(name) }), [batchOf(answer)], TOUCHED);
  };

  const stateOf = (name: string) => {
    const isChosen = chosen === name || (isMissing && name === CORE);
    if (isChosen) {
      return (
        <StateBadge kind={acting ? 'good' : 'waiting'} why={acting ? undefined : t('state.offAbout')}>
          {t(acting ? 'inForce' : 'chosen')}
        </StateBadge>
      );
    }
    if (!isAdmin) return '–';
    return (
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('useOf', { name: titleOf(name) })}
        loading={isPending && using === name}
        onClick={() => void use(name).catch(() => {})}
      >
        {t('use')}
      </Button>
    );
  };

  const rows: Row[] = [
    { name: CORE, set: undefined },
    ...(rulesets ?? []).map((set) => ({ name: set.name, set })).toSorted((a, b) => a.name.localeCompare(b.name)),
  ];
  const add = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => void navigate('/firewall/rules/new')}>
      {t('add')}
    </Button>
  );
  return (
    <FirewallPage about={t('rulesAbout')} actions={rulesets?.length !== 0 && add}>
      <Problem
        error={sets.error ?? config.error ?? status.error}
        onRetry={() => void Promise.all([sets.refetch(), config.refetch(), status.refetch()])}
      />
      {status.data && config.data && rulesets && (
        <Stack gap="md">
          <FirewallState status={status.data} />
          {isMissing && (
            <Alert color="yellow" className="foreign">
              {t('missing', { name: chosen })}
            </Alert>
          )}
          <Guards />
          <Problem error={error} />
          <WideTable
            label={t('tabs.rules')}
            minWidth={640}
            notOnPhones={[1, 2, 3]}
            head={[t('name'), t('modeOf'), t('rules'), t('changed'), t('stateOf')]}
          >
            {rows.map(({ name, set }) => (
              <Table.Tr key={set?.uuid ?? CORE}>
                <Table.Td maw={320} className="foreign">
                  {set ? (
                    <>
                      <Anchor component={Link} to={`/firewall/rules/${set.uuid}`} inherit>
                        {name}
                      </Anchor>
                      <Text size="xs" c="dimmed" hiddenFrom="sm">
                        {t(MODES[set.mode])}
                      </Text>
                    </>
                  ) : (
                    <>
                      {t('core')}
                      <Text size="xs" c="dimmed">
                        {t('coreAbout')}
                      </Text>
                    </>
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">{set ? t(MODES[set.mode]) : '–'}</Table.Td>
                <Table.Td visibleFrom="sm">{set ? formatNumber(set.rule_count) : '–'}</Table.Td>
                <Table.Td visibleFrom="sm">
                  <Moment at={set?.updated_at} />
                </Table.Td>
                <Table.Td>{stateOf(name)}</Table.Td>
              </Table.Tr>
            ))}
          </WideTable>
          {rulesets.length === 0 && (
            <Empty title={t('none')} action={<Group>{add}</Group>}>
              {t('noneAbout')}
            </Empty>
          )}
        </Stack>
      )}
    </FirewallPage>
  );
};
