import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { ask } from '../api/client.ts';
import { readAnew } from '../api/query.ts';
import { notifyDone, notifyFailed } from './notify.ts';

const OFFERED_MS = 20_000;

/** The batch of the history by which a change can be taken back, of its answer. */
export const batchOf = ({ headers }: { headers: Headers }): string => headers.get('x-sallyport-batch') ?? '';

/** Takes changes back, the last one first, and says what came of it. */
const undo = async (batches: readonly string[], touches: readonly string[]): Promise<void> => {
  try {
    for (const batch of batches.toReversed()) await ask('POST', `/history/batches/${batch}/revert`);
    notifyDone(i18next.t('undone'));
  } catch (error) {
    notifyFailed(error as Error);
  }
  await readAnew(touches);
};

/**
 * Says that something was done, and offers to take it back for a while; the history does so later. `batches`: of the changes, in their
 * order. `touches`: paths that are read anew after.
 */
export const offerUndo = (message: string, batches: readonly string[], touches: readonly string[]): void => {
  const id = `undo-${batches[0] ?? ''}`;
  notifications.show({
    id,
    color: 'verdigris',
    autoClose: OFFERED_MS,
    closeButtonProps: { 'aria-label': i18next.t('close') },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" className="foreign" lineClamp={3}>
          {message}
        </Text>
        <Button
          size="compact-sm"
          variant="light"
          flex="none"
          onClick={() => {
            notifications.hide(id);
            void undo(batches, touches);
          }}
        >
          {i18next.t('undo')}
        </Button>
      </Group>
    ),
  });
};
