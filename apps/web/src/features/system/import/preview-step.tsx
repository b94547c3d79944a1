import {
  Alert,
  Button,
  Checkbox,
  Group,
  Pagination,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import type { ImportCommit, ImportOutcome, ImportPreview, ImportPreviewHost, ImportSession } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange, useRead } from '../../../api/query.ts';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';
import { useUnsaved } from '../../../ui/form/unsaved.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { type Choices, importedOf, isTaken, undecidedOf } from './choices.ts';
import { Notes } from './notes.tsx';
import { PreviewHost } from './preview-host.tsx';

const PER_PAGE = 50;
const CONFIRM_SECONDS = 120;
const KEEPS = {
  all: () => true,
  conflicts: isTaken,
  warnings: ({ warnings }: ImportPreviewHost) => warnings.length > 0,
  issues: ({ issue }: ImportPreviewHost) => issue !== null,
};
type Filter = keyof typeof KEEPS;

interface PreviewStepProps {
  session: ImportSession;
  /** Whether it was begun elsewhere, or before this page was opened. */
  isTakenUp: boolean;
  onCommitted: (outcome: ImportOutcome) => void;
  onCancelled: () => void;
}

/** What the import would come to: nothing has changed yet. */
export const PreviewStep = ({ session, isTakenUp, onCommitted, onCancelled }: PreviewStepProps) => {
  const { t } = useTranslation('system');
  const { data, error, refetch } = useRead<ImportPreview>('/import/preview', { retry: false });
  const [choices, setChoices] = useState<Choices>({});
  useUnsaved(() => Object.keys(choices).length > 0);
  const [filter, setFilter] = useState<Filter>('all');
  const [page, setPage] = useState(1);
  const [mustConfirm, setMustConfirm] = useState(false);
  const cancelling = useChange(['/import/status']);
  const committing = useChange<ImportOutcome>(['/']);
  const cancel = async () => {
    await cancelling.mutateAsync({
      method: 'DELETE',
      path: '/import/cancel',
      query: { session_uuid: session.uuid },
    });
    onCancelled();
  };
  const commit = async () => {
    const { data: outcome } = await committing.mutateAsync({
      method: 'POST',
      path: '/import/commit',
      body: { session_uuid: session.uuid, resolutions: choices } satisfies ImportCommit,
      query: { confirm_within: mustConfirm ? CONFIRM_SECONDS : undefined },
    });
    onCommitted(outcome);
  };
  const choose = (domain: string, choice: Choices[string] | undefined) =>
    setChoices((before) => {
      const { [domain]: _dropped, ...others } = before;
      return choice === undefined ? others : { ...others, [domain]: choice };
    });

  const cancelButton = (
    <Button variant="default" loading={cancelling.isPending} onClick={() => void cancel().catch(() => undefined)}>
      {t('imports.cancel')}
    </Button>
  );
  if (error) {
    return (
      <Stack>
        <Problem error={error} onRetry={() => void refetch()} />
        <Group>{cancelButton}</Group>
      </Stack>
    );
  }
  if (!data) return <Skeleton h={240} aria-label={t('imports.parsing')} />;
  const { hosts } = data;
  const taken = hosts.filter((host) => isTaken(host) && host.issue === null);
  const shown = hosts.filter(KEEPS[filter]);
  const undecided = undecidedOf(taken, choices);
  const count = importedOf(hosts, choices);
  return (
    <Stack maw={1000}>
      {isTakenUp && (
        <Alert role="status" color="blue" variant="light">
          {t('imports.takenUp', { name: session.filename, moment: formatMoment(session.created_at) })}
        </Alert>
      )}
      <Notes kind="errors" notes={data.errors} />
      <Notes kind="notes" notes={data.warnings} />
      <Section
        title={t('imports.summary', { count: hosts.length, shown: formatNumber(hosts.length) })}
        about={data.session.source === null ? undefined : t(`imports.sources.${data.session.source}`)}
      >
        <Group justify="space-between" gap="sm">
          <Select
            aria-label={t('imports.filter')}
            w={230}
            allowDeselect={false}
            value={filter}
            onChange={(value) => {
              setFilter((value ?? 'all') as Filter);
              setPage(1);
            }}
            data={(Object.keys(KEEPS) as Filter[]).map((value) => ({
              value,
              label: t(`imports.filters.${value}`, { shown: formatNumber(hosts.filter(KEEPS[value]).length) }),
            }))}
          />
          {taken.length > 0 && (
            <Group gap="xs">
              <Text size="sm">{t('imports.forAll')}</Text>
              <SegmentedControl
                size="xs"
                aria-label={t('imports.forAll')}
                value={
                  (['keep', 'overwrite', 'skip'] as const).find((one) =>
                    taken.every(({ domain }) => choices[domain] === one),
                  ) ?? ''
                }
                onChange={(value) =>
                  setChoices((before) => ({
                    ...before,
                    ...Object.fromEntries(taken.map(({ domain }) => [domain, value as Choices[string]])),
                  }))
                }
                data={(['keep', 'overwrite', 'skip'] as const).map((value) => ({
                  value,
                  label: t(`imports.choices.${value}`),
                }))}
              />
            </Group>
          )}
        </Group>
        {hosts.length === 0 && <Text c="dimmed">{t('imports.noHost')}</Text>}
        <div>
          {shown.slice((page - 1) * PER_PAGE, page * PER_PAGE).map((host) => (
            <PreviewHost
              key={`${host.file}:${host.line}:${host.domain}`}
              host={host}
              choice={choices[host.domain]}
              onChoice={(choice) => choose(host.domain, choice)}
            />
          ))}
        </div>
        {shown.length > PER_PAGE && (
          <Pagination
            total={Math.ceil(shown.length / PER_PAGE)}
            value={page}
            onChange={setPage}
            withControls={false}
            getItemProps={(item) => ({ 'aria-label': String(item) })}
          />
        )}
      </Section>
      <Problem error={committing.error ?? cancelling.error} />
      <Group justify="space-between">
        {cancelButton}
        <Group gap="md">
          <Checkbox
            label={t('imports.confirmWithin')}
            checked={mustConfirm}
            onChange={({ currentTarget }) => setMustConfirm(currentTarget.checked)}
          />
          <Button
            loading={committing.isPending}
            disabled={undecided > 0 || hosts.length === 0}
            onClick={() => void commit().catch(() => undefined)}
          >
            {count === 0 ? t('imports.commitNone') : t('imports.commit', { count, shown: formatNumber(count) })}
          </Button>
        </Group>
      </Group>
      {undecided > 0 && (
        <Text size="sm" ta="right" role="status">
          {t('imports.undecided', { count: undecided, shown: formatNumber(undecided) })}
        </Text>
      )}
    </Stack>
  );
};
