import { Button, Checkbox, NativeSelect, PasswordInput, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import type { NotificationSettings } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Answer } from '../../../api/client.ts';
import { useAnswer, useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { PageForm } from '../../../ui/form/page-form.tsx';
import { usePageForm } from '../../../ui/form/use-page-form.ts';
import { IconShield } from '../../../ui/icons.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Page } from '../../../ui/page.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { Deliveries } from './deliveries.tsx';
import { SendTest } from './send-test.tsx';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const FORMATS = ['auto', 'generic', 'discord', 'slack', 'gotify', 'template'] as const;
const CLASSES = ['notify_waf_blocks', 'notify_acl_denials', 'notify_rate_limit_hits'] as const;
const PLACEHOLDERS = '{{Title}} {{Message}} {{EventType}} {{Severity}} {{HostName}} {{Timestamp}}';
const PATH = '/security/notifications/settings';

const typedOf = ({ webhook_secret_set: _isSet, ...settings }: NotificationSettings) => ({
  ...settings,
  webhook_secret: '',
});

const Form = ({ answer }: { answer: Answer<NotificationSettings> }) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const { mutateAsync } = useChange(['/security/notifications']);
  const object = usePageForm(answer, typedOf, (body, etag) =>
    mutateAsync({ method: 'PUT', path: PATH, body, ifMatch: etag }),
  );
  const { form } = object;
  const { webhook_format } = form.getValues();
  return (
    <Stack gap="md" maw={960}>
      <PageForm object={object} isReadOnly={!isAdmin} onSaved={() => notifyDone(t('notifications.saved'))}>
        <Panel title={t('notifications.what')} about={t('notifications.always')}>
          <Switch
            label={t('notifications.enabled')}
            description={t('notifications.enabledAbout')}
            {...form.getInputProps('enabled', { type: 'checkbox' })}
          />
          {CLASSES.map((field) => (
            <Checkbox
              key={field}
              label={t(`notifications.${field}`)}
              {...form.getInputProps(field, { type: 'checkbox' })}
            />
          ))}
          <NativeSelect
            label={t('notifications.level')}
            maw={320}
            data={LEVELS.map((value) => ({ value, label: t(`notifications.levels.${value}`) }))}
            {...form.getInputProps('min_log_level')}
          />
        </Panel>
        {isAdmin && (
          <Panel title={t('notifications.webhook')} about={t('notifications.webhookAbout')}>
            <TextInput
              label={t('notifications.url')}
              description={t('notifications.urlHint')}
              type="url"
              spellCheck={false}
              {...form.getInputProps('webhook_url')}
            />
            <NativeSelect
              label={t('notifications.format')}
              maw={320}
              data={FORMATS.map((value) => ({ value, label: t(`notifications.formats.${value}`) }))}
              {...form.getInputProps('webhook_format')}
            />
            {webhook_format === 'template' && (
              <Textarea
                label={t('notifications.template')}
                description={t('notifications.templateHint').replace('{0}', PLACEHOLDERS)}
                autosize
                minRows={4}
                maxRows={16}
                spellCheck={false}
                ff="monospace"
                {...form.getInputProps('webhook_template')}
              />
            )}
            <PasswordInput
              label={t('notifications.secret')}
              description={t(answer.data.webhook_secret_set ? 'notifications.secretSet' : 'notifications.secretHint')}
              autoComplete="off"
              {...form.getInputProps('webhook_secret')}
            />
          </Panel>
        )}
        <Panel title={t('notifications.mail')} about={t('notifications.mailAbout')}>
          <Textarea
            label={t('notifications.recipients')}
            description={t('notifications.recipientsHint')}
            autosize
            minRows={1}
            spellCheck={false}
            {...form.getInputProps('email_recipients')}
          />
        </Panel>
      </PageForm>
      {isAdmin && <SendTest isDirty={form.isDirty()} />}
      {isAdmin && <Deliveries />}
    </Stack>
  );
};

/** Who is told of what, and a test of it. */
export const Notifications = () => {
  const { t } = useTranslation('protection');
  const { data, error, refetch } = useAnswer<NotificationSettings>(PATH, { query: { defaults: true } });
  const back = (
    <Button component={Link} to="/security" variant="default" leftSection={<IconShield size={16} />}>
      {t('notifications.back')}
    </Button>
  );
  return (
    <Page title={t('notifications.title')} about={t('notifications.about')} actions={back}>
      <Problem error={error} onRetry={() => void refetch()} />
      {data && <Form answer={data} />}
    </Page>
  );
};
