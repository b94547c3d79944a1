import { ActionIcon, Box, Button, FileButton, Group, Paper, Stack, Text, Textarea, Tooltip } from '@mantine/core';
import type { ImportNote, ImportSession, ImportSessionReport } from '@sallyport/contract';
import { type DragEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../../api/api-error.ts';
import { ask } from '../../../api/client.ts';
import { readAnew } from '../../../api/query.ts';
import { useUnsaved } from '../../../ui/form/unsaved.ts';
import { IconFileImport, IconStar, IconX } from '../../../ui/icons.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { SourcesProvider } from './excerpt.tsx';
import { NoteList } from './notes.tsx';
import { fitsInRequest, MOST_MIB, mayFit, readSource, type SourceFile } from './source-file.ts';

const PASTED = 'Caddyfile';

/** Uploads, and waits until it is read. Resolves to why nothing of it was understood; undefined: there is something to review. */
const upload = async (files: readonly SourceFile[]): Promise<readonly ImportNote[] | undefined> => {
  const [only] = files;
  if (files.length > 1 || !only) {
    await ask('POST', '/import/upload-multi', { body: { files } });
    return undefined;
  }
  const { data } = await ask<{ session: ImportSession }>('POST', '/import/upload', { body: only });
  try {
    await ask('GET', '/import/preview');
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const report = await ask<ImportSessionReport>('GET', `/import/sessions/${data.session.uuid}`);
    if (report.data.state !== 'failed') throw error;
    return report.data.errors;
  }
};

interface SourceStepProps {
  onRead: (files: readonly SourceFile[]) => void;
}

/** What is to be imported: files that are dropped or chosen, or a text that is pasted. */
export const SourceStep = ({ onRead }: SourceStepProps) => {
  const { t } = useTranslation('system');
  const [files, setFiles] = useState<readonly SourceFile[]>([]);
  const [pasted, setPasted] = useState('');
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [failure, setFailure] = useState<readonly ImportNote[]>();
  useUnsaved(() => pasted.trim() !== '');
  const resetChoice = useRef<() => void>(null);
  const all: readonly SourceFile[] =
    pasted.trim() === '' ? files : [{ filename: PASTED, content: pasted, encoding: 'utf8' }, ...files];

  const add = async (chosen: readonly File[]) => {
    setError(undefined);
    // The same one is chosen again after it was left out, or changed.
    resetChoice.current?.();
    if (!mayFit(chosen)) return setError(new Error(t('imports.tooLarge', { most: MOST_MIB })));
    try {
      const read = await Promise.all(chosen.map(readSource));
      const names = new Set(read.map(({ filename }) => filename));
      setFiles((before) => [...before.filter(({ filename }) => !names.has(filename)), ...read]);
    } catch (failed) {
      setError(failed as Error);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void add([...event.dataTransfer.files]);
  };
  const look = async () => {
    setError(undefined);
    setFailure(undefined);
    if (!fitsInRequest(all)) return setError(new Error(t('imports.tooLarge', { most: MOST_MIB })));
    setBusy(true);
    try {
      const notUnderstood = await upload(all);
      if (notUnderstood) setFailure(notUnderstood);
      else onRead(all);
    } catch (refused) {
      setError(refused as Error);
      // It may have come through, though its answer did not.
      await readAnew(['/import/status']);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack maw={900}>
      <Paper
        withBorder
        p="xl"
        ta="center"
        bg={isOver ? 'var(--mantine-primary-color-light)' : 'transparent'}
        style={{ borderStyle: 'dashed' }}
        role="group"
        aria-label={t('imports.drop')}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Stack align="center" gap="xs">
          <IconFileImport size={32} aria-hidden />
          <Text fw={600}>{t('imports.drop')}</Text>
          <Text size="sm" c="dimmed" maw={560}>
            {t('imports.reads')}
          </Text>
          <FileButton
            multiple
            resetRef={resetChoice}
            onChange={(chosen) => void add(chosen)}
            inputProps={{ 'aria-label': t('imports.files') }}
          >
            {(props) => (
              <Button variant="default" {...props}>
                {t('imports.choose')}
              </Button>
            )}
          </FileButton>
        </Stack>
      </Paper>
      {files.length > 0 && (
        <Box component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label={t('imports.files')}>
          {files.map((file, index) => (
            <Group key={file.filename} component="li" gap="xs" wrap="nowrap">
              <Text size="sm" className="foreign">
                {file.filename}
              </Text>
              {all.length > 1 && index === 0 && pasted.trim() === '' && (
                <StateBadge kind="good">{t('imports.main')}</StateBadge>
              )}
              {index > 0 && (
                <Tooltip label={t('imports.makeMain', { name: file.filename })}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={t('imports.makeMain', { name: file.filename })}
                    onClick={() => setFiles([file, ...files.filter((other) => other !== file)])}
                  >
                    <IconStar size={15} />
                  </ActionIcon>
                </Tooltip>
              )}
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('imports.remove', { name: file.filename })}
                onClick={() => setFiles(files.filter((other) => other !== file))}
              >
                <IconX size={15} />
              </ActionIcon>
            </Group>
          ))}
        </Box>
      )}
      <Textarea
        label={t('imports.paste')}
        autosize
        minRows={5}
        maxRows={18}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        value={pasted}
        onChange={({ currentTarget }) => setPasted(currentTarget.value)}
      />
      <Problem error={error} />
      {failure && (
        <Section title={t('imports.nothingUnderstood')}>
          <SourcesProvider value={all}>
            <NoteList notes={failure} />
          </SourcesProvider>
        </Section>
      )}
      <Group justify="flex-end">
        <Button loading={isBusy} disabled={all.length === 0} onClick={() => void look()}>
          {t('imports.look')}
        </Button>
      </Group>
    </Stack>
  );
};
