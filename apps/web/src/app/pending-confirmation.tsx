import { Alert, Button, Group, Text } from '@mantine/core';
import type { Confirmation } from '@sallyport/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange, useRead } from '../api/query.ts';
import { IconClock } from '../ui/icons.ts';
import { notifyFailed } from '../ui/notify.ts';

/** Changes that take themselves back unless somebody who still gets here says that all is well. They survive a reload. */
export const PendingConfirmation = () => {
  const { t } = useTranslation();
  const { data } = useRead<Confirmation[]>('/security/confirm', { everyMs: 5_000, retry: false });
  const { mutateAsync, isPending } = useChange(['/security/confirm']);
  const takingBack = useChange(['/security/confirm']);
  const [now, setNow] = useState(Date.now());
  const count = data?.length ?? 0;
  const client = useQueryClient();
  const countBefore = useRef(0);
  useEffect(() => {
    // One that has gone may have taken itself back: whatever is shown may be what was.
    if (count < countBefore.current) void client.invalidateQueries();
    countBefore.current = count;
  }, [count, client]);
  useEffect(() => {
    if (count === 0) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [count]);
  if (!data || count === 0) return null;
  return (
    <>
      {data.map(({ id, reverts_at }) => (
        <Alert key={id} color="yellow" icon={<IconClock />} mb="md" role="alert">
          <Group justify="space-between">
            <Text size="sm">
              {t('revertsIn', { seconds: Math.max(0, Math.ceil((Date.parse(reverts_at) - now) / 1_000)) })}
            </Text>
            <Group gap="xs">
              <Button
                size="xs"
                variant="default"
                loading={takingBack.isPending}
                onClick={() =>
                  void takingBack
                    .mutateAsync({ method: 'POST', path: `/history/batches/${id}/revert` })
                    .catch(notifyFailed)
                }
              >
                {t('revertNow')}
              </Button>
              <Button
                size="xs"
                loading={isPending}
                onClick={() =>
                  void mutateAsync({ method: 'POST', path: `/security/confirm/${id}` }).catch(notifyFailed)
                }
              >
                {t('keepChange')}
              </Button>
            </Group>
          </Group>
        </Alert>
      ))}
    </>
  );
};
