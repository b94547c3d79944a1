import {
  Alert,
  Anchor,
  Checkbox,
  Group,
  List,
  MultiSelect,
  Radio,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { AccessDraftResult, AccessDraftTest, AccessListInUse } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { useStored } from '../../../api/object.ts';
import { useAsked, useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { DeleteButton } from '../../../ui/delete-button.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { FormObject } from '../../../ui/form/form-object.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { IconShieldX } from '../../../ui/icons.ts';
import { Name } from '../../../ui/name.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { countryChoices } from './countries.ts';
import { filled, type Rule, RulesEditor } from './rules-editor.tsx';

const TYPES = ['allow', 'deny', 'geo_allow', 'geo_deny'] as const;
type Type = (typeof TYPES)[number];

/** How long a change that keeps its maker out stands unless it is confirmed. */
const CONFIRM_SECONDS = 60;
const TYPING_MS = 300;

const NEW = {
  name: '',
  description: '',
  type: 'allow' as Type,
  rules: [] as Rule[],
  countries: [] as string[],
  local_network_only: false,
  enabled: true,
};
type Typed = typeof NEW;

const typedOf = (list: AccessListInUse): Typed => ({
  name: list.name,
  description: list.description,
  type: list.type,
  rules: list.rules.map(({ cidr, description = '' }) => ({ cidr, description })),
  countries: list.countries,
  local_network_only: list.local_network_only,
  enabled: list.enabled,
});

const isGeo = (type: Type): type is 'geo_allow' | 'geo_deny' => type === 'geo_allow' || type === 'geo_deny';

/** What is sent: countries that have no effect are left out. */
const bodyOf = (typed: Typed): Typed => ({
  ...typed,
  rules: filled(typed.rules),
  countries: isGeo(typed.type) ? typed.countries : [],
});

const draftOf = (typed: Typed): AccessDraftTest => {
  const { name: _, description: __, ...draft } = bodyOf(typed);
  return draft;
};

interface EditorProps {
  /** What is there; undefined for a new one. */
  list: AccessListInUse | undefined;
  etag: string | undefined;
}

const Editor = ({ list, etag }: EditorProps) => {
  const { t, i18n } = useTranslation(['protection', 'common']);
  const { isAdmin, user } = useWho();
  const navigate = useNavigate();
  const [isGuarded, setGuarded] = useState(true);
  const [ip, setIp] = useState('');
  const touches = ['/access-lists', '/security/confirm', '/proxy-hosts'];
  const { save, remove } = useStored({ list: '/access-lists', id: list?.uuid, touches });
  const { mutateAsync: askOnce } = useChange<AccessDraftResult>([]);
  const isUsed = list !== undefined && list.used_by_total > 0;

  const confirmation = async (typed: Typed): Promise<{ confirm_within?: number }> => {
    if (!isUsed || !isGuarded || !user) return {};
    const { data } = await askOnce({ method: 'POST', path: '/access-lists/test', body: draftOf(typed) });
    return data.allowed ? {} : { confirm_within: CONFIRM_SECONDS };
  };
  const object = useObjectForm<Typed>(
    list?.uuid ?? 'new',
    list ? typedOf(list) : NEW,
    async (typed, version) => {
      const query = await confirmation(typed);
      await save(bodyOf(typed), version, query);
      notifyDone(query.confirm_within === undefined ? t('accessLists.saved') : t('accessLists.savedGuarded'));
    },
    etag,
  );
  const { form } = object;
  const values = form.getValues();
  const [draft] = useDebouncedValue(JSON.stringify(draftOf(values)), TYPING_MS);
  const [asked] = useDebouncedValue(ip.trim(), TYPING_MS);
  const own = useAsked<AccessDraftResult>('/access-lists/test', JSON.parse(draft));
  const probe = useAsked<AccessDraftResult>('/access-lists/test', { ...JSON.parse(draft), ip: asked }, asked !== '');
  const countries = useMemo(() => countryChoices(i18n.resolvedLanguage ?? 'en'), [i18n.resolvedLanguage]);

  const told = (field: string): string | undefined => {
    const saved = form.errors[field];
    if (typeof saved === 'string') return saved;
    return own.error?.message.startsWith(field) ? own.error.message : undefined;
  };
  const close = () => void navigate('/access-lists');
  const removed = (name: string) => {
    notifyDone(t('accessLists.removed', { name }));
    close();
  };

  return (
    <FormDrawer
      title={list ? list.name : t('accessLists.add')}
      isOpen
      onClose={close}
      onSaved={close}
      object={object}
      isReadOnly={!isAdmin}
      below={
        <Stack gap="xs">
          <TextInput
            label={t('accessLists.probe')}
            description={t('accessLists.probeHint')}
            placeholder="203.0.113.9"
            value={ip}
            maxLength={64}
            error={probe.error?.message.startsWith('ip') && ip !== '' ? probe.error.message : undefined}
            onChange={({ currentTarget: { value } }) => setIp(value)}
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
          {probe.data && !probe.error && ip.trim() !== '' && (
            <Group gap="xs" role="status">
              <StateBadge kind={probe.data.allowed ? 'good' : 'bad'}>
                {probe.data.allowed ? t('accessLists.allowed') : t('accessLists.refused')}
              </StateBadge>
              <Text size="sm" className="foreign">
                {probe.data.ip}: {probe.data.reason}
              </Text>
            </Group>
          )}
          {isAdmin && own.data && !own.error && !own.data.allowed && (
            <Alert color="yellow" icon={<IconShieldX />} title={t('accessLists.lockOut')} role="alert">
              <Text size="sm" className="foreign">
                {t('accessLists.lockOutHint', { ip: own.data.ip, reason: own.data.reason })}
              </Text>
              {isUsed && user && (
                <Checkbox
                  mt="xs"
                  label={t('accessLists.guard')}
                  checked={isGuarded}
                  onChange={({ currentTarget: { checked } }) => setGuarded(checked)}
                />
              )}
            </Alert>
          )}
          {isUsed && (
            <div>
              <Text size="sm" fw={500}>
                {t('accessLists.usedBy', { count: list.used_by_total })}
              </Text>
              <List size="sm">
                {list.used_by.map(({ uuid, domain }) => (
                  <List.Item key={uuid}>
                    <Anchor component={Link} to={`/hosts/${uuid}`} size="sm">
                      <Name>{domain}</Name>
                    </Anchor>
                  </List.Item>
                ))}
              </List>
            </div>
          )}
        </Stack>
      }
      more={
        list &&
        isAdmin && (
          <DeleteButton
            title={t('accessLists.remove', { name: list.name })}
            onDelete={() => remove().then(() => removed(list.name))}
          >
            {t('accessLists.removeAbout')}
          </DeleteButton>
        )
      }
    >
      {list && list.warnings.length > 0 && (
        <Alert color="yellow" title={t('accessLists.warning')}>
          {list.warnings.map(({ field, message }) => (
            <Text key={field + message} size="sm" className="foreign">
              {message}
            </Text>
          ))}
        </Alert>
      )}
      <TextInput label={t('accessLists.name')} required data-autofocus {...form.getInputProps('name')} />
      <Radio.Group label={t('accessLists.type')} {...form.getInputProps('type')}>
        <Stack gap={6} mt={6}>
          {TYPES.map((type) => (
            <Radio key={type} value={type} label={t(`accessLists.types.${type}`)} />
          ))}
        </Stack>
      </Radio.Group>
      {isGeo(values.type) && (
        <MultiSelect
          label={t(`accessLists.countriesOf.${values.type}`)}
          description={t('accessLists.countriesHint')}
          data={countries}
          searchable
          hidePickedOptions
          comboboxProps={{ withinPortal: false }}
          {...form.getInputProps('countries')}
          error={told('countries')}
        />
      )}
      <RulesEditor
        rules={values.rules}
        onChange={(rules) => {
          form.setFieldValue('rules', rules);
          form.clearFieldError('rules');
        }}
        hint={t(`accessLists.networksHint.${isGeo(values.type) ? 'geo' : values.type}`)}
        error={told('rules')}
        isReadOnly={!isAdmin}
      />
      <Switch
        label={t('accessLists.localOnly')}
        description={t('accessLists.localOnlyHint')}
        {...form.getInputProps('local_network_only', { type: 'checkbox' })}
      />
      <Switch
        label={t('accessLists.enabled')}
        description={t('accessLists.enabledHint')}
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
      <TextInput label={t('accessLists.description')} {...form.getInputProps('description')} />
    </FormDrawer>
  );
};

/** Makes or changes an access list: what the address of the screen names. */
export const AccessListForm = () => {
  const { uuid } = useParams();
  return (
    <FormObject<AccessListInUse> path={uuid && `/access-lists/${uuid}`}>
      {(list, etag) => <Editor list={list} etag={etag} />}
    </FormObject>
  );
};
