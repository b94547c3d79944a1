import { Group, NumberInput, Text, Textarea } from '@mantine/core';
import type { SecurityConfigAnswer } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import type { Answer } from '../../../api/client.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { PageForm } from '../../../ui/form/page-form.tsx';
import { usePageForm } from '../../../ui/form/use-page-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Panel } from '../../../ui/panel.tsx';
import { useSaveConfig } from './stored.ts';

/** What counts before anything is configured. */
const typedOf = ({ config }: SecurityConfigAnswer) => ({
  rate_limit_requests: config?.rate_limit_requests ?? 100,
  rate_limit_window_sec: config?.rate_limit_window_sec ?? 60,
  rate_limit_burst: config?.rate_limit_burst ?? 20,
  rate_limit_bypass_list: config?.rate_limit_bypass_list ?? '',
});

/** How often a visitor may ask, in numbers and in words. */
export const RateLimit = ({ answer, isActing }: { answer: Answer<SecurityConfigAnswer>; isActing: boolean }) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const save = useSaveConfig(isActing);
  const object = usePageForm(answer, typedOf, save);
  const { form } = object;
  const { rate_limit_requests, rate_limit_window_sec, rate_limit_burst } = form.getValues();
  const numbers = [
    ['rate_limit_requests', t('security.requests')],
    ['rate_limit_window_sec', t('security.window')],
    ['rate_limit_burst', t('security.burst')],
  ] as const;
  return (
    <Panel title={t('security.rateLimit')} about={t('security.rateLimitAbout')}>
      <PageForm
        object={object}
        isReadOnly={!isAdmin}
        onSaved={() => notifyDone(t(isActing ? 'security.savedPending' : 'security.saved'))}
      >
        <Group grow align="flex-start" preventGrowOverflow={false}>
          {numbers.map(([field, label]) => (
            <NumberInput
              key={field}
              label={label}
              min={0}
              allowDecimal={false}
              clampBehavior="none"
              miw={130}
              {...form.getInputProps(field)}
            />
          ))}
        </Group>
        <Text size="sm">
          {t('security.rateLimitInWords', {
            requests: formatNumber(Number(rate_limit_requests)),
            count: Number(rate_limit_window_sec),
            burst: formatNumber(Number(rate_limit_burst)),
          })}
        </Text>
        <Textarea
          label={t('security.bypass')}
          description={t('security.bypassHint')}
          autosize
          minRows={1}
          maxRows={6}
          spellCheck={false}
          {...form.getInputProps('rate_limit_bypass_list')}
        />
      </PageForm>
    </Panel>
  );
};
