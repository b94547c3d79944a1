import { Alert, Button, Stack, Text } from '@mantine/core';
import type { ImportNote } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../../i18n/formats.ts';
import { Excerpt } from './excerpt.tsx';

const AT_FIRST = 20;

/** Sentences about the source, each with its place in it. */
export const NoteList = ({ notes }: { notes: readonly ImportNote[] }) => {
  const { t } = useTranslation('system');
  const [most, setMost] = useState(AT_FIRST);
  return (
    <Stack gap="sm">
      {notes.slice(0, most).map((note, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
        <div key={index}>
          <Text size="sm" className="foreign">
            {note.message}
          </Text>
          <Excerpt file={note.file} line={note.line} />
        </div>
      ))}
      {notes.length > most && (
        <Button variant="default" size="xs" onClick={() => setMost(most * 5)} style={{ alignSelf: 'flex-start' }}>
          {t('imports.moreOf', { shown: formatNumber(notes.length - most) })}
        </Button>
      )}
    </Stack>
  );
};

/** What is wrong with the files as a whole, or left out of them. Nothing when nothing is. */
export const Notes = ({ kind, notes }: { kind: 'errors' | 'notes'; notes: readonly ImportNote[] }) => {
  const { t } = useTranslation('system');
  if (notes.length === 0) return null;
  return (
    <Alert
      role={kind === 'errors' ? 'alert' : 'status'}
      color={kind === 'errors' ? 'red' : 'yellow'}
      variant="light"
      title={t(`imports.${kind}`, { count: notes.length, shown: formatNumber(notes.length) })}
    >
      <NoteList notes={notes} />
    </Alert>
  );
};
