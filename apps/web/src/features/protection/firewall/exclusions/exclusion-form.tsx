import { Alert, NativeSelect, Select, Textarea, TextInput } from '@mantine/core';
import type { ProxyHost, SecurityConfigAnswer, WafExclusion } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { ApiError } from '../../../../api/api-error.ts';
import { useChange, useRead } from '../../../../api/query.ts';
import { FormDrawer } from '../../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../../ui/form/use-object-form.ts';
import { batchOf, offerUndo } from '../../../../ui/undo.tsx';
import { TOUCHED } from '../../security/stored.ts';
import { InWords, namesOf } from './in-words.tsx';

const HOUR_MS = 3_600_000;
const LASTS = { never: 0, hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS, month: 720 * HOUR_MS } as const;
type Lasts = keyof typeof LASTS;

const NEW = { rule_id: '', target: '', host_uuid: '', path: '', lasts: 'never' as Lasts, description: '' };
type Typed = typeof NEW;

const exclusionOf = ({ rule_id, target, host_uuid, path, lasts, description }: Typed): WafExclusion => {
  const id = rule_id.trim();
  return {
    rule_id: /^\d{1,9}$/.test(id) ? Number(id) : id,
    ...(target.trim() === '' ? {} : { target: target.trim() }),
    ...(host_uuid === '' ? {} : { host_uuid }),
    ...(path.trim() === '' ? {} : { path: path.trim() }),
    ...(lasts === 'never' ? {} : { expires_at: new Date(Date.now() + LASTS[lasts]).toISOString() }),
    description,
  };
};

/** The server names the entry of the list; here it is the only one, and its field is what the reader knows. */
const atItsField = (error: unknown): unknown =>
  error instanceof ApiError
    ? new ApiError(error.status, {
        error: error.message.replace(/^waf_exclusions(?:\[\d+\]\.| )/, ''),
        ...(error.details === undefined ? {} : { details: error.details }),
      })
    : error;

/** Writes an exclusion by hand, and shows what it lets through while it is typed. */
export const ExclusionForm = () => {
  const { t } = useTranslation('firewall');
  const navigate = useNavigate();
  const hosts = useRead<ProxyHost[]>('/proxy-hosts');
  const names = useMemo(() => namesOf(hosts.data), [hosts.data]);
  const { mutateAsync } = useChange<SecurityConfigAnswer>(TOUCHED);
  const object = useObjectForm<Typed>('new', NEW, async (typed) => {
    const body = exclusionOf(typed);
    const answer = await mutateAsync({ method: 'POST', path: '/security/exclusions', body }).catch((error: unknown) => {
      throw atItsField(error);
    });
    offerUndo(t('excluded', { rule: body.rule_id }), [batchOf(answer)], TOUCHED);
  });
  const { form } = object;
  const values = form.getValues();
  const close = () => void navigate('/firewall/exclusions');
  return (
    <FormDrawer title={t('exclude')} action={t('exclude')} isOpen onClose={close} onSaved={close} object={object}>
      <TextInput
        label={t('ruleId')}
        description={t('ruleIdHint')}
        required
        data-autofocus
        maxLength={32}
        {...form.getInputProps('rule_id')}
      />
      <TextInput
        label={t('target')}
        description={t('targetHint')}
        placeholder="ARGS:comment"
        spellCheck={false}
        maxLength={256}
        {...form.getInputProps('target')}
      />
      <Select
        label={t('host')}
        placeholder={t('anyHost')}
        clearable
        searchable
        limit={100}
        comboboxProps={{ withinPortal: false }}
        data={[...(names ?? [])].map(([value, label]) => ({ value, label }))}
        {...form.getInputProps('host_uuid')}
        onChange={(uuid) => form.setFieldValue('host_uuid', uuid ?? '')}
        value={values.host_uuid === '' ? null : values.host_uuid}
      />
      <TextInput
        label={t('path')}
        description={t('pathHint')}
        spellCheck={false}
        maxLength={1_024}
        {...form.getInputProps('path')}
      />
      <NativeSelect
        label={t('until')}
        data={(Object.keys(LASTS) as Lasts[]).map((one) => ({ value: one, label: t(`untils.${one}`) }))}
        {...form.getInputProps('lasts')}
      />
      <Textarea
        label={t('why')}
        description={t('whyHint')}
        autosize
        minRows={1}
        maxLength={1_024}
        {...form.getInputProps('description')}
      />
      {values.rule_id.trim() !== '' && (
        <Alert color="gray" title={t('whatFollows')} role="status">
          <InWords exclusion={exclusionOf(values)} names={names} />
        </Alert>
      )}
    </FormDrawer>
  );
};
