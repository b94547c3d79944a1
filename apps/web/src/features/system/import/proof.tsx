import { Alert, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import type { ImportVerification, ImportVerify } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../../api/client.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { Name } from '../../../ui/name.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { WideTable } from '../../../ui/table/wide-table.tsx';

const MOST_AT_ONCE = 1_000;

const Verdict = ({ result }: { result: ImportVerification }) => {
  const { t } = useTranslation('system');
  if (result.hosts.length === 0) {
    return (
      <Alert role="status" color="verdigris" variant="light">
        {t('imports.allSame', { count: result.asked, shown: formatNumber(result.asked) })}
      </Alert>
    );
  }
  return (
    <Stack gap="md" role="status">
      <Text size="sm">
        {t('imports.someDiffer', { same: formatNumber(result.same), asked: formatNumber(result.asked) })}
      </Text>
      {result.hosts.map(({ name, differences }) => (
        <div key={name}>
          <Text fw={600}>
            <Name>{name}</Name>
          </Text>
          <WideTable
            label={name}
            minWidth={560}
            head={[t('imports.field'), t('imports.before'), t('imports.now'), t('imports.meaning')]}
          >
            {differences.map(({ scheme, field, before, now, message }) => (
              <Table.Tr key={`${scheme} ${field}`}>
                <Table.Td>
                  {scheme} {field}
                </Table.Td>
                <Table.Td className="foreign">{before || '–'}</Table.Td>
                <Table.Td className="foreign">{now || '–'}</Table.Td>
                <Table.Td className="foreign">{message}</Table.Td>
              </Table.Tr>
            ))}
          </WideTable>
        </div>
      ))}
    </Stack>
  );
};

/** Asks the old proxy and this one for each imported name, and shows where they differ. */
export const Proof = ({ uuid }: { uuid: string }) => {
  const { t } = useTranslation('system');
  const [result, setResult] = useState<ImportVerification>();
  /** Of which proxy the result tells, whatever is typed by now. */
  const [asked, setAsked] = useState('');
  const compare = async (old_address: string, hosts?: readonly string[]) => {
    const body: ImportVerify = { session: uuid, old_address, ...(hosts ? { hosts: [...hosts] } : {}) };
    const { data } = await ask<ImportVerification>('POST', '/import/verify', { body });
    setAsked(old_address);
    setResult((before) =>
      hosts && before
        ? {
            ...data,
            asked: before.asked + data.asked,
            same: before.same + data.same,
            hosts: [...before.hosts, ...data.hosts],
            not_asked: [...data.not_asked, ...before.not_asked.slice(hosts.length)],
          }
        : data,
    );
  };
  const { form, problem, isSaving, submit } = useObjectForm(
    uuid,
    { old_address: '', rest: false },
    ({ old_address, rest }) => (rest ? compare(asked, result?.not_asked.slice(0, MOST_AT_ONCE)) : compare(old_address)),
  );
  const run = (rest: boolean) => {
    form.setFieldValue('rest', rest);
    void submit();
  };
  return (
    <Section title={t('imports.proof')} about={t('imports.proofAbout')}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          run(false);
        }}
      >
        <Group align="flex-end" gap="sm">
          <TextInput
            label={t('imports.oldAddress')}
            description={t('imports.oldAddressHint')}
            flex="1 1 20rem"
            maw={480}
            autoComplete="off"
            {...form.getInputProps('old_address')}
          />
          <Button type="submit" loading={isSaving}>
            {t('imports.compare')}
          </Button>
        </Group>
      </form>
      {isSaving && (
        <Text size="sm" c="dimmed" role="status">
          {t('imports.comparing')}
        </Text>
      )}
      <Problem error={problem} />
      {result && <Verdict result={result} />}
      {result && result.not_asked.length > 0 && (
        <Group>
          <Text size="sm">
            {t('imports.rest', { count: result.not_asked.length, shown: formatNumber(result.not_asked.length) })}
          </Text>
          <Button variant="default" size="xs" loading={isSaving} onClick={() => run(true)}>
            {t('imports.askRest')}
          </Button>
        </Group>
      )}
    </Section>
  );
};
