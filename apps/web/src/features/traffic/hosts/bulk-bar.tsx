import { Button, Group, Paper, Progress, Text } from '@mantine/core';
import type { ProxyHost, ProxyHostPatch } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../../i18n/formats.ts';
import { Problem } from '../../../ui/problem.tsx';
import { BulkChange } from './bulk-change.tsx';
import { useHostChanges } from './use-host-changes.tsx';

interface BulkBarProps {
  /** The hosts that are chosen, at least one. */
  hosts: readonly ProxyHost[];
  /** So many of them the list does not show, as it is searched and filtered. */
  unseen: number;
  onDone: () => void;
}

/** What can be done with the hosts that are chosen: each at once, with a way back. */
export const BulkBar = ({ hosts, unseen, onDone }: BulkBarProps) => {
  const { t } = useTranslation(['traffic', 'common']);
  const { done, change, remove } = useHostChanges();
  const [error, setError] = useState<Error>();
  const [isOpen, setOpen] = useState(false);
  const isBusy = done !== null;
  const attempt = (work: Promise<void>): Promise<void> => {
    setError(undefined);
    return work.then(onDone, setError);
  };
  const patch = (fields: ProxyHostPatch) => attempt(change(hosts, fields));
  return (
    <Paper withBorder p="xs" role="region" aria-label={t('hosts.chosenRegion')}>
      <Group gap="xs">
        <Text size="sm" fw={600} mr="xs">
          {t('hosts.chosen', { count: hosts.length, shown: formatNumber(hosts.length) })}
          {unseen > 0 && t('hosts.chosenUnseen', { shown: formatNumber(unseen) })}
        </Text>
        <Button size="xs" disabled={isBusy} onClick={() => setOpen(true)}>
          {t('hosts.bulkChange')}
        </Button>
        <Button size="xs" variant="default" disabled={isBusy} onClick={() => void patch({ enabled: true })}>
          {t('hosts.enable')}
        </Button>
        <Button size="xs" variant="default" disabled={isBusy} onClick={() => void patch({ enabled: false })}>
          {t('hosts.disable')}
        </Button>
        <Button size="xs" variant="subtle" color="red" disabled={isBusy} onClick={() => void attempt(remove(hosts))}>
          {t('common:delete')}
        </Button>
        <Button size="xs" variant="subtle" color="gray" ml="auto" disabled={isBusy} onClick={onDone}>
          {t('hosts.chooseNone')}
        </Button>
      </Group>
      {isBusy && (
        <Progress
          mt="xs"
          value={(100 * done) / hosts.length}
          animated
          aria-label={t('hosts.progress', { done: formatNumber(done), all: formatNumber(hosts.length) })}
        />
      )}
      {error && (
        <Group mt="xs">
          <Problem error={error} />
        </Group>
      )}
      <BulkChange
        count={hosts.length}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onApply={(fields) => {
          setOpen(false);
          void patch(fields);
        }}
      />
    </Paper>
  );
};
