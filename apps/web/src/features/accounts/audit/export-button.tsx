import { Button } from '@mantine/core';
import type { AuditEntry } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, type Query } from '../../../api/client.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { IconDownload } from '../../../ui/icons.ts';
import { notifyFailed } from '../../../ui/notify.ts';
import { saveText } from '../../../ui/save-text.ts';

const MOST_AT_ONCE = 1_000;

/** Saves all entries that fit as JSON, the newest first. */
export const ExportButton = ({ query }: { query: Query }) => {
  const { t } = useTranslation('accounts');
  const [count, setCount] = useState<number>();
  const run = async () => {
    const entries: AuditEntry[] = [];
    setCount(0);
    try {
      for (let before_id: number | undefined; ; ) {
        const { data } = await ask<AuditEntry[]>('GET', '/audit-logs', {
          query: { ...query, limit: MOST_AT_ONCE, before_id },
        });
        entries.push(...data);
        setCount(entries.length);
        before_id = data.at(-1)?.id;
        if (data.length < MOST_AT_ONCE) break;
      }
      const day = new Date().toISOString().slice(0, 10);
      saveText(`sallyport-audit-${day}.json`, JSON.stringify(entries, undefined, 2), 'application/json');
    } catch (failure) {
      notifyFailed(failure as Error);
    } finally {
      setCount(undefined);
    }
  };
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      disabled={count !== undefined}
      onClick={() => void run()}
    >
      {count === undefined ? t('audit.export') : t('audit.exporting', { shown: formatNumber(count) })}
    </Button>
  );
};
