import { Alert, Button, Group, PasswordInput, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { DescribedSetting, Setting } from '@sallyport/contract';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../../api/api-error.ts';
import { readAnew, useAnswer, useChange } from '../../../api/query.ts';
import { useUnsaved } from '../../../ui/form/unsaved.ts';
import { Name } from '../../../ui/name.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { wordsOf } from '../../../ui/words-of.ts';

interface SettingFieldProps {
  setting: DescribedSetting;
  /** What stands below the field, made of what is typed in it. */
  children?: (typed: string) => ReactNode;
}

/** A setting with what it does and its default. A switch is stored at once, what is typed when one says so. */
export const SettingField = ({ setting, children }: SettingFieldProps) => {
  const { t } = useTranslation(['system', 'common']);
  const { key, value, type, description, options, is_secret, is_set } = setting;
  const [typed, setTyped] = useState<string>();
  const [notice, setNotice] = useState<string>();
  const id = useId();
  const path = `/settings/${key}`;
  const isTouched = typed !== undefined && (is_secret || typed !== value);
  // Its version is asked for when somebody begins to change it, and stays that one whatever is read behind what they type.
  const { data: read, isFetching } = useAnswer<DescribedSetting>(path, { isOn: typed !== undefined });
  const [version, setVersion] = useState<string>();
  if (typed !== undefined && version === undefined && read && !isFetching) setVersion(read.etag);
  useUnsaved(() => isTouched);
  const change = useChange<Setting>(['/settings']);
  const { error } = change;
  /** What is typed no longer stands here; the button that was pressed is gone by that. */
  const leave = () => {
    setTyped(undefined);
    setVersion(undefined);
    document.getElementById(id)?.focus();
  };
  const store = async (next: string) => {
    try {
      const { data } = await change.mutateAsync({
        method: 'POST',
        path: '/settings',
        body: { key, value: next },
        ifMatch: version,
      });
      leave();
      setNotice(data.notice);
      notifyDone(t('settings.saved', { key }));
    } catch (failure) {
      // What is wrong stands below the field, and nothing typed is lost.
      if (failure instanceof ApiError && failure.status === 412) {
        // Theirs is shown beside it. Saved once more, at once or later, it goes over that, and over nothing newer.
        setVersion(failure.etag);
        await readAnew(['/settings']);
      }
    }
  };
  const reset = async () => {
    try {
      await change.mutateAsync({ method: 'DELETE', path });
      leave();
      setNotice(undefined);
      notifyDone(t('settings.isReset', { key }));
    } catch {
      // As above.
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed !== undefined) void store(typed);
  };
  const isOvertaken = error?.status === 412;
  const said = isOvertaken ? t('settings.overtaken') : error && wordsOf(error);
  const theirs = isOvertaken ? (error.current as Partial<DescribedSetting> | undefined)?.value : undefined;
  const field = {
    id,
    label: <Name>{key}</Name>,
    description,
    error: said && <span className="foreign">{said}</span>,
    inputWrapperOrder: ['label', 'description', 'input', 'error'] as ('label' | 'description' | 'input' | 'error')[],
  };
  const text = {
    ...field,
    value: typed ?? value,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => setTyped(currentTarget.value),
    autoComplete: 'off',
  };
  const input = (): ReactNode => {
    if (type === 'boolean') {
      return (
        <Switch
          id={id}
          label={<Name>{key}</Name>}
          description={description}
          error={field.error}
          checked={value === 'true'}
          disabled={change.isPending}
          onChange={({ currentTarget }) => void store(String(currentTarget.checked))}
        />
      );
    }
    if (options) {
      return (
        <Select
          {...field}
          data={options}
          allowDeselect={false}
          value={value}
          disabled={change.isPending}
          onChange={(next) => next !== null && void store(next)}
        />
      );
    }
    if (type === 'private_key') {
      return <Textarea {...text} value={typed ?? ''} autosize minRows={3} maxRows={12} spellCheck={false} />;
    }
    if (is_secret) {
      const placeholder = is_set ? t('settings.isKept') : '';
      return <PasswordInput {...text} value={typed ?? ''} placeholder={placeholder} autoComplete="new-password" />;
    }
    return <TextInput {...text} placeholder={setting.default} inputMode={type === 'integer' ? 'numeric' : undefined} />;
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap={6}>
        {input()}
        {children?.(typed ?? value)}
        {theirs !== undefined && !is_secret && (
          <Text size="sm" className="foreign" role="status">
            {t('settings.bothVersions', { theirs, yours: typed ?? '' })}
          </Text>
        )}
        {notice !== undefined && (
          <Alert color="yellow" role="status" p="xs">
            <span className="foreign">{notice}</span>
          </Alert>
        )}
        <Group gap="xs">
          {isTouched && (
            <>
              <Button type="submit" size="xs" loading={change.isPending}>
                {t('common:save')}
              </Button>
              <Button
                size="xs"
                variant="default"
                onClick={() => {
                  leave();
                  change.reset();
                }}
              >
                {t('common:cancel')}
              </Button>
            </>
          )}
          {is_set && !isTouched && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="gray"
              aria-label={t('settings.resetOf', { key })}
              disabled={change.isPending}
              onClick={() => void reset()}
            >
              {is_secret ? t('settings.forget') : t('settings.reset')}
            </Button>
          )}
          {!is_secret && setting.default !== '' && setting.default !== value && (
            <Text size="xs" c="dimmed" className="foreign">
              {t('settings.default', { value: setting.default })}
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  );
};
