import { Alert, Button, Text } from '@mantine/core';
import type { AuditVerification } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../../api/client.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { IconShieldCheck } from '../../../ui/icons.ts';
import { Problem } from '../../../ui/problem.tsx';

interface Verifying {
  report: AuditVerification | undefined;
  error: Error | undefined;
  isBusy: boolean;
  run: () => Promise<void>;
}

/** Has the chain of entries recomputed when it is asked for. */
export const useVerification = (): Verifying => {
  const [report, setReport] = useState<AuditVerification>();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setReport(undefined);
    setError(undefined);
    await ask<AuditVerification>('GET', '/audit-logs/verify')
      .then(({ data }) => setReport(data), setError)
      .finally(() => setBusy(false));
  };
  return { report, error, isBusy, run };
};

export const VerifyButton = ({ of: { isBusy, run } }: { of: Verifying }) => {
  const { t } = useTranslation('accounts');
  return (
    <Button variant="default" leftSection={<IconShieldCheck size={16} />} loading={isBusy} onClick={() => void run()}>
      {t('audit.verify')}
    </Button>
  );
};

/** What the chain says, in words. */
export const Verification = ({ of: { report, error } }: { of: Verifying }) => {
  const { t } = useTranslation('accounts');
  if (error) return <Problem error={error} />;
  if (!report) return null;
  const shown = formatNumber(report.entries);
  if (report.ok) {
    return (
      <Alert role="status" color="verdigris" variant="light">
        {t('audit.verified', { count: report.entries, shown })}
      </Alert>
    );
  }
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      title={t('audit.broken', { id: report.id ?? 0, reason: report.reason ?? '' })}
    >
      <Text size="sm">{t('audit.brokenAfter', { shown })}</Text>
    </Alert>
  );
};
