import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import type { OriginTest, RemoteServer } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fieldOf } from '../../../api/api-error.ts';
import { useChange, useRead } from '../../../api/query.ts';
import { IconPlugConnected } from '../../../ui/icons.ts';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { readOrigin } from './addresses.ts';
import { FieldWarnings, useHostParts } from './host-fields.tsx';

const SCHEMES = ['http', 'https'];
const ORIGIN_FIELDS = ['forward_scheme', 'forward_host', 'forward_port', 'forward_reserved'] as const;

/** What came of trying an origin, in words. */
const TestResult = ({ result }: { result: OriginTest }) => {
  const { t } = useTranslation('traffic');
  const { reachable, status, address, error } = result;
  return (
    <Stack gap={4} role="status">
      <Group gap="xs">
        <StateBadge kind={reachable ? (status === null ? 'warning' : 'good') : 'bad'}>
          {t(reachable ? (status === null ? 'hosts.originMute' : 'hosts.originAnswers') : 'hosts.originSilent')}
        </StateBadge>
        <Text size="xs" c="dimmed" className="foreign">
          {status === null ? address : t('hosts.originStatus', { address, status })}
        </Text>
      </Group>
      {error !== undefined && (
        <Text size="xs" className="foreign">
          {error}
        </Text>
      )}
      {reachable && status === null && <Text size="xs">{t('hosts.originMuteHint')}</Text>}
    </Stack>
  );
};

/** Where requests go, and whether somebody is there. An address that is pasted as a whole is taken apart. */
export const OriginFields = () => {
  const { t } = useTranslation('traffic');
  const { form } = useHostParts();
  const { mutateAsync, isPending } = useChange<OriginTest>([]);
  const [result, setResult] = useState<{ of: string; test: OriginTest } | { of: string; error: Error }>();
  const { forward_scheme, forward_host, forward_port, forward_reserved } = form.getValues();
  const now = JSON.stringify([forward_scheme, forward_host, forward_port, forward_reserved]);
  const isThere = forward_host.trim() !== '' && forward_port !== '';

  const test = async () => {
    for (const field of ORIGIN_FIELDS) form.clearFieldError(field);
    try {
      const body = { forward_scheme, forward_host, forward_port, forward_reserved };
      const { data } = await mutateAsync({ method: 'POST', path: '/proxy-hosts/test-origin', body });
      setResult({ of: now, test: data });
    } catch (error) {
      const { message } = error as Error;
      const field = fieldOf(message, ORIGIN_FIELDS);
      if (field !== undefined) form.setFieldError(field, message);
      else setResult({ of: now, error: error as Error });
    }
  };

  return (
    <Stack gap="xs">
      <Group preventGrowOverflow={false} align="flex-start" gap="xs" wrap="nowrap">
        <Select
          label={t('hosts.fields.forward_scheme.label')}
          w={96}
          flex="none"
          data={SCHEMES}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          {...form.getInputProps('forward_scheme')}
        />
        <TextInput
          label={t('hosts.fields.forward_host.label')}
          required
          flex={1}
          {...form.getInputProps('forward_host')}
          onChange={({ currentTarget }) => {
            const pasted = readOrigin(currentTarget.value);
            if (pasted) form.setValues(pasted);
            else form.setFieldValue('forward_host', currentTarget.value);
          }}
        />
        <NumberInput
          label={t('hosts.fields.forward_port.label')}
          required
          w={92}
          flex="none"
          allowDecimal={false}
          clampBehavior="none"
          hideControls
          {...form.getInputProps('forward_port')}
        />
      </Group>
      <FieldWarnings of={['forward_scheme', 'forward_host', 'forward_port']} />
      <Group gap="sm" align="flex-start">
        <Button
          size="xs"
          variant="default"
          disabled={!isThere}
          loading={isPending}
          leftSection={<IconPlugConnected size={15} aria-hidden />}
          onClick={() => void test()}
        >
          {t('hosts.testOrigin')}
        </Button>
        {result?.of === now &&
          ('test' in result ? <TestResult result={result.test} /> : <Problem error={result.error} />)}
      </Group>
    </Stack>
  );
};

/** Takes the address of a machine that has a name here. */
export const RemoteServerChoice = () => {
  const { t } = useTranslation('traffic');
  const { form } = useHostParts();
  const { data = [] } = useRead<RemoteServer[]>('/remote-servers');
  const { remote_server_id } = form.getValues();
  if (data.length === 0 && remote_server_id === null) return null;
  return (
    <Select
      label={t('hosts.fields.remote_server_id.label')}
      description={t('hosts.fields.remote_server_id.about')}
      clearable
      searchable
      limit={100}
      data={data
        .filter(({ id, enabled }) => enabled || id === remote_server_id)
        .map(({ id, name }) => ({ value: String(id), label: name }))}
      value={remote_server_id === null ? null : String(remote_server_id)}
      error={form.errors.remote_server_id}
      onChange={(value) => {
        const server = data.find(({ id }) => String(id) === value);
        if (server)
          form.setValues({ remote_server_id: server.id, forward_host: server.host, forward_port: server.port });
        else form.setFieldValue('remote_server_id', null);
      }}
    />
  );
};
