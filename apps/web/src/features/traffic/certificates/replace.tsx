import { Alert, Button, Collapse, FileInput, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { CertificateInUse, ReplacedCertificate } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { isPkcs12 } from './is-pkcs12.ts';

interface Typed extends Record<string, unknown> {
  name: string;
  certificate_file: File | null;
  key_file: File | null;
  /** In place of both. */
  pkcs12_file: File | null;
  pkcs12_password: string;
}

const NO_FILES = { certificate_file: null, key_file: null, pkcs12_file: null, pkcs12_password: '' };

/** Puts other files in the place of a certificate that hosts point at, or gives it another name. */
export const Replace = ({ certificate, etag }: { certificate: CertificateInUse; etag: string | undefined }) => {
  const { t } = useTranslation(['traffic', 'common']);
  const [isOpen, { toggle, close }] = useDisclosure();
  const [warnings, setWarnings] = useState<ReplacedCertificate['warnings']>([]);
  const { mutateAsync } = useChange<ReplacedCertificate>(['/certificates', '/proxy-hosts']);
  const { uuid, name } = certificate;
  const initial: Typed = { name, ...NO_FILES };
  const { form, problem, isSaving, submit } = useObjectForm<Typed>(uuid, initial, async (typed) => {
    const body = new FormData();
    body.append('name', typed.name);
    if (typed.certificate_file) body.append('certificate_file', typed.certificate_file);
    if (typed.key_file && !typed.pkcs12_file) body.append('key_file', typed.key_file);
    if (typed.pkcs12_file) {
      body.append('pkcs12_file', typed.pkcs12_file);
      if (typed.pkcs12_password !== '') body.append('pkcs12_password', typed.pkcs12_password);
    }
    const { data } = await mutateAsync({ method: 'PUT', path: `/certificates/${uuid}`, body, ifMatch: etag });
    setWarnings(data.warnings);
    notifyDone(t('certificates.replaced'));
    form.setValues({ name: data.name, ...NO_FILES });
    close();
  });
  const { certificate_file, pkcs12_file } = form.getValues();
  return (
    <div>
      <Button variant="default" aria-expanded={isOpen} onClick={toggle}>
        {t('certificates.replace')}
      </Button>
      {warnings.map(({ field, message }) => (
        <Alert key={field + message} color="yellow" mt="xs" className="foreign">
          {message}
        </Alert>
      ))}
      <Collapse expanded={isOpen}>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <Stack gap="sm" mt="sm">
            <Text size="sm" c="dimmed">
              {t('certificates.replaceAbout')}
            </Text>
            <TextInput label={t('certificates.name')} {...form.getInputProps('name')} />
            <FileInput
              label={t('certificates.certificateFile')}
              accept=".pem,.crt,.pfx,.p12"
              clearable
              value={pkcs12_file ?? certificate_file}
              error={form.errors.pkcs12_file ?? form.errors.certificate_file}
              onChange={(file) => {
                form.clearErrors();
                const isBoth = file !== null && isPkcs12(file);
                form.setValues({ pkcs12_file: isBoth ? file : null, certificate_file: isBoth ? null : file });
              }}
            />
            {pkcs12_file ? (
              <PasswordInput
                label={t('certificates.pkcs12Password')}
                description={t('uploading.passwordHint')}
                autoComplete="off"
                {...form.getInputProps('pkcs12_password')}
              />
            ) : (
              <FileInput
                label={t('certificates.keyFile')}
                accept=".pem,.key"
                clearable
                {...form.getInputProps('key_file')}
              />
            )}
            <Problem error={problem} />
            <Group justify="flex-end">
              <Button type="submit" loading={isSaving}>
                {t('common:save')}
              </Button>
            </Group>
          </Stack>
        </form>
      </Collapse>
    </div>
  );
};
