import { ActionIcon, Alert, Anchor, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import type { CertificateImport, CertificateImportEntry } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { IconX } from '../../../ui/icons.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Side } from '../../../ui/side.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';
import { DropZone } from './drop-zone.tsx';
import { isPkcs12 } from './is-pkcs12.ts';

const KINDS: Readonly<Record<CertificateImportEntry['outcome'], StateKind>> = {
  imported: 'good',
  present: 'off',
  same: 'good',
  authority: 'off',
  expired: 'warning',
  superseded: 'off',
  locked: 'warning',
  refused: 'bad',
  unpaired: 'bad',
  ignored: 'off',
};

const Outcome = ({ entry: { file, outcome, message, certificate_id } }: { entry: CertificateImportEntry }) => {
  const { t } = useTranslation('traffic');
  return (
    <li>
      <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text size="sm" fw={500} className="foreign">
            {file}
          </Text>
          <Text size="sm" c="dimmed" className="foreign">
            {message}
          </Text>
          {certificate_id !== null && (
            <Anchor component={Link} to={`/certificates/${certificate_id}`} size="sm">
              {t('uploading.open')}
            </Anchor>
          )}
        </div>
        <StateBadge kind={KINDS[outcome]}>{t(`uploading.outcomes.${outcome}`)}</StateBadge>
      </Group>
    </li>
  );
};

const calledBy = (file: File): string => file.webkitRelativePath || file.name;

/** Takes certificates out of files, however many and whatever they are called, and tells what became of each. */
export const Upload = () => {
  const { t } = useTranslation('traffic');
  const navigate = useNavigate();
  const [files, setFiles] = useState<File[]>([]);
  const [password, setPassword] = useState('');
  const [told, setTold] = useState<CertificateImport>();
  const { mutateAsync, isPending, error } = useChange<CertificateImport>(['/certificates', '/proxy-hosts']);
  const upload = async () => {
    const body = new FormData();
    if (password !== '') body.append('pkcs12_password', password);
    for (const file of files) body.append('file', file, calledBy(file));
    const { data } = await mutateAsync({ method: 'POST', path: '/certificates/import', body });
    const locked = new Set(data.files.filter(({ outcome }) => outcome === 'locked').map(({ file }) => file));
    setTold(data);
    setFiles(files.filter((file) => locked.has(calledBy(file))));
    setPassword('');
  };
  const hasLocked = told?.files.some(({ outcome }) => outcome === 'locked') ?? false;
  const send = () => void upload().catch(() => undefined);
  return (
    <Side title={t('uploading.title')} onClose={() => void navigate('/certificates')}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('uploading.about')}
        </Text>
        <DropZone
          label={t('uploading.drop')}
          onFiles={(more) => {
            setTold(undefined);
            setFiles((before) => [...before, ...more]);
          }}
        />
        {files.length > 0 && (
          <>
            <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }}>
              {files.map((file, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two files may be called the same
                <Group component="li" key={at} justify="space-between" wrap="nowrap">
                  <Text size="sm" className="foreign">
                    {file.name}
                  </Text>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={t('uploading.remove', { name: file.name })}
                    onClick={() => setFiles(files.filter((one) => one !== file))}
                  >
                    <IconX size={16} />
                  </ActionIcon>
                </Group>
              ))}
            </Stack>
            {(hasLocked || files.some(isPkcs12)) && (
              <PasswordInput
                label={t('uploading.password')}
                description={t('uploading.passwordHint')}
                autoComplete="off"
                value={password}
                error={hasLocked && t('uploading.lockedStay')}
                onChange={({ currentTarget: { value } }) => setPassword(value)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter') send();
                }}
              />
            )}
            <Group justify="flex-end">
              <Button loading={isPending} onClick={send}>
                {t('uploading.submit')}
              </Button>
            </Group>
          </>
        )}
        <Problem error={error} />
        {told && (
          <div role="status">
            <Alert color={told.imported > 0 ? 'verdigris' : 'gray'} mb="sm">
              {t('uploading.done', { count: told.imported })}
            </Alert>
            <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
              {told.files.map((entry, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a file may be told of several times
                <Outcome key={at} entry={entry} />
              ))}
            </Stack>
          </div>
        )}
      </Stack>
    </Side>
  );
};
