import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ImportOutcome, ImportSessionReport } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useChange, useRead } from '../../../api/query.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { Excerpt } from './excerpt.tsx';
import { Proof } from './proof.tsx';

interface ResultStepProps {
  uuid: string;
  /** What the commit answered, when it was made here. */
  outcome: ImportOutcome | undefined;
  onAnother: () => void;
}

/** What came of an import, the way back, and the comparison with the old proxy. */
export const ResultStep = ({ uuid, outcome, onAnother }: ResultStepProps) => {
  const { t } = useTranslation('system');
  const { data: report, error } = useRead<ImportSessionReport>(`/import/sessions/${uuid}`, { retry: false });
  const undoing = useChange(['/']);
  const [isUndone, setUndone] = useState(false);
  const undo = async () => {
    await undoing.mutateAsync({ method: 'POST', path: `/history/batches/${outcome?.batch}/revert` });
    setUndone(true);
    notifyDone(t('imports.undone'));
  };
  const counts = outcome ?? report?.outcome;
  return (
    <Stack maw={1000}>
      <Problem error={error} />
      {counts && (
        <Alert
          role="status"
          color={counts.failed > 0 ? 'yellow' : 'verdigris'}
          variant="light"
          title={t('imports.done')}
        >
          <Text size="sm">
            {t('imports.counts', {
              imported: formatNumber(counts.imported),
              skipped: formatNumber(counts.skipped),
              failed: formatNumber(counts.failed),
            })}
          </Text>
          {outcome?.backup && (
            <Text size="sm" className="foreign">
              {t('imports.backup', { name: outcome.backup })}
            </Text>
          )}
        </Alert>
      )}
      {outcome && outcome.failures.length > 0 && (
        <Section title={t('imports.failed')}>
          {outcome.failures.map(({ domain, message, file, line }) => (
            <div key={`${domain} ${file}:${line}`}>
              <Text fw={600} size="sm" className="foreign">
                {domain}
              </Text>
              <Text size="sm" className="foreign">
                {message}
              </Text>
              <Excerpt file={file} line={line} />
            </div>
          ))}
        </Section>
      )}
      <Problem error={undoing.error} />
      <Group>
        <Button component={Link} to="/hosts">
          {t('imports.toHosts')}
        </Button>
        <Button variant="default" onClick={onAnother}>
          {t('imports.another')}
        </Button>
        {outcome?.batch && !isUndone && (
          <Button variant="default" loading={undoing.isPending} onClick={() => void undo().catch(() => undefined)}>
            {t('imports.undo')}
          </Button>
        )}
      </Group>
      {counts && counts.imported > 0 && !isUndone && <Proof uuid={uuid} />}
    </Stack>
  );
};
