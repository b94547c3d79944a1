import { Accordion, Badge, Group, NumberInput, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { Warning } from '@sallyport/contract';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract/values';
import { createContext, type ReactNode, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import type { ObjectForm } from '../../../ui/form/use-object-form.ts';
import { IconAlertTriangle } from '../../../ui/icons.ts';
import { GROUPS, type GroupName, PROTECTION, type SwitchField, type TypedHost } from './host-values.ts';

export interface HostFormParts {
  form: ObjectForm<TypedHost>['form'];
  /** What the host will not do although its fields say so, as it was read. */
  warnings: readonly Warning[];
  /** Whether the reader may change what protects. */
  isAdmin: boolean;
}

const PartsContext = createContext<HostFormParts | undefined>(undefined);
export const HostFormProvider = PartsContext.Provider;

/** The form that a field belongs to. */
export const useHostParts = (): HostFormParts => {
  const parts = useContext(PartsContext);
  if (parts === undefined) throw new Error('a field without its form');
  return parts;
};

/** What is said of a field that does not do all it says. */
export const FieldWarnings = ({ of }: { of: readonly (keyof TypedHost)[] }) => {
  const { warnings } = useHostParts();
  return warnings
    .filter(({ field }) => (of as readonly string[]).includes(field))
    .map(({ field, message }) => (
      <Group key={`${field} ${message}`} gap={6} wrap="nowrap" align="flex-start" mt={4}>
        <IconAlertTriangle size={14} aria-hidden style={{ flex: 'none', marginTop: 3, color: 'var(--warning-text)' }} />
        <Text size="xs" c="var(--warning-text)" className="foreign">
          {message}
        </Text>
      </Group>
    ));
};

/** A field that is on or off, with what it does and what a new host has. */
export const HostSwitch = ({ field }: { field: SwitchField }) => {
  const { t } = useTranslation('traffic');
  const { form, isAdmin } = useHostParts();
  const isDefault = t(PROXY_HOST_DEFAULTS[field] ? 'hosts.defaultOn' : 'hosts.defaultOff');
  return (
    <div>
      <Switch
        label={t(`hosts.fields.${field}.label`)}
        description={`${t(`hosts.fields.${field}.about`)} ${isDefault}`}
        disabled={!isAdmin && PROTECTION.has(field)}
        {...form.getInputProps(field, { type: 'checkbox' })}
      />
      <FieldWarnings of={[field]} />
    </div>
  );
};

/** A text that may be left out: then the default holds. */
export const HostText = ({ field }: { field: 'waf_allowed_methods' | 'waf_allowed_content_types' | 'name' }) => {
  const { t } = useTranslation('traffic');
  const { form, isAdmin } = useHostParts();
  const value = form.getValues()[field];
  return (
    <TextInput
      label={t(`hosts.fields.${field}.label`)}
      description={t(`hosts.fields.${field}.about`)}
      placeholder={field === 'name' ? undefined : t('hosts.likeSuite')}
      disabled={!isAdmin && PROTECTION.has(field)}
      value={value ?? ''}
      error={form.errors[field]}
      onChange={({ currentTarget }) =>
        form.setFieldValue(field, field === 'name' || currentTarget.value !== '' ? currentTarget.value : null)
      }
    />
  );
};

/** The longest body of a request, in bytes. */
export const BodyLimit = () => {
  const { t } = useTranslation('traffic');
  const { form, isAdmin } = useHostParts();
  return (
    <NumberInput
      label={t('hosts.fields.waf_body_limit.label')}
      description={t('hosts.fields.waf_body_limit.about')}
      placeholder={t('hosts.likeSuite')}
      disabled={!isAdmin}
      min={0}
      allowDecimal={false}
      clampBehavior="none"
      hideControls
      value={form.getValues().waf_body_limit ?? ''}
      error={form.errors.waf_body_limit}
      onChange={(value) => form.setFieldValue('waf_body_limit', value === '' ? null : Number(value))}
    />
  );
};

/** A group of fields; closed, it says how many of them differ from what a new host has, or need attention. */
export const FieldGroup = ({ name, children }: { name: GroupName; children: ReactNode }) => {
  const { t } = useTranslation('traffic');
  const { form, warnings } = useHostParts();
  const values = form.getValues();
  const fields: readonly (keyof typeof PROXY_HOST_DEFAULTS)[] = GROUPS[name];
  const changed = fields.filter((field) => field !== 'name' && values[field] !== PROXY_HOST_DEFAULTS[field]).length;
  const hasWarning = warnings.some(({ field }) => (fields as readonly string[]).includes(field));
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>
        <Group gap="xs">
          <Text fw={500} size="sm">
            {t(`hosts.groups.${name}.title`)}
          </Text>
          <Text size="xs" c="dimmed" visibleFrom="xs">
            {t(`hosts.groups.${name}.about`)}
          </Text>
          {changed > 0 && (
            <Badge size="sm" variant="light" tt="none" fw={500}>
              {t('hosts.changedFields', { count: changed })}
            </Badge>
          )}
          {hasWarning && (
            <IconAlertTriangle
              size={14}
              aria-label={t('hosts.groupWarning')}
              style={{ color: 'var(--warning-text)' }}
            />
          )}
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="md">{children}</Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
};
