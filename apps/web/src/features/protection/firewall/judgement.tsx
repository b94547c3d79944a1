import { Accordion, Card, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { SECURITY_DEFAULTS, SecurityConfigAnswer } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import type { Answer } from '../../../api/client.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { PageForm } from '../../../ui/form/page-form.tsx';
import { usePageForm } from '../../../ui/form/use-page-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { useSaveConfig } from '../security/stored.ts';
import { Choices } from './choices.tsx';

/** What a rule adds that is sure of an attack. */
const CRITICAL_SCORE = 5;

type Defaults = typeof SECURITY_DEFAULTS;
/** What counts before anything is configured: as the API has it, which the type sees to. */
const DEFAULTS: Pick<Defaults, 'waf_mode' | 'waf_anomaly_threshold' | 'waf_fail_mode'> = {
  waf_mode: 'block',
  waf_anomaly_threshold: 5,
  waf_fail_mode: 'closed',
};

const LEVELS = ['1', '2', '3', '4'] as const;

/** `waf_paranoia_level` as it is chosen; before anything is configured, what only the server has in full is empty. */
const typedOf = ({ config }: SecurityConfigAnswer) => ({
  waf_mode: config?.waf_mode ?? DEFAULTS.waf_mode,
  waf_paranoia_level: config?.waf_paranoia_level ?? 1,
  waf_anomaly_threshold: config?.waf_anomaly_threshold ?? DEFAULTS.waf_anomaly_threshold,
  waf_fail_mode: config?.waf_fail_mode ?? DEFAULTS.waf_fail_mode,
  waf_allowed_methods: config?.waf_allowed_methods ?? '',
  waf_allowed_content_types: config?.waf_allowed_content_types ?? '',
  waf_body_limit: config?.waf_body_limit ?? 13_107_200,
});

/** What the threshold asks for, in words. */
const ThresholdInWords = ({ threshold }: { threshold: number }) => {
  const { t } = useTranslation('firewall');
  const words = () => {
    if (threshold < CRITICAL_SCORE) return t('thresholdInWords.less');
    if (threshold === CRITICAL_SCORE) return t('thresholdInWords.one');
    return t('thresholdInWords.more', { count: Math.max(2, Math.ceil(threshold / CRITICAL_SCORE)) });
  };
  return <Text size="sm">{words()}</Text>;
};

/** Mode, suspicion, threshold and limits, each with what it costs. `isActing`: a change acts at once, and so may lock out. */
export const Judgement = ({ answer, isActing }: { answer: Answer<SecurityConfigAnswer>; isActing: boolean }) => {
  const { t } = useTranslation(['firewall', 'common']);
  const { isAdmin } = useWho();
  const object = usePageForm(answer, typedOf, useSaveConfig(isActing));
  const { form } = object;
  const values = form.getValues();
  const choose = <F extends keyof typeof values>(field: F) => ({
    value: String(values[field]),
    error: form.errors[field],
    onChange: (value: string) =>
      form.setFieldValue(field, (field === 'waf_paranoia_level' ? Number(value) : value) as never),
  });
  const asDefault = (field: 'waf_allowed_methods' | 'waf_allowed_content_types') =>
    values[field] === '' ? t('asDefault') : undefined;
  return (
    <PageForm object={object} isReadOnly={!isAdmin} onSaved={() => notifyDone(t(isActing ? 'savedPending' : 'saved'))}>
      <Card withBorder padding="lg" radius="md">
        <Stack gap="xl">
          <Choices
            label={t('mode')}
            choices={(['block', 'monitor'] as const).map((mode) => ({
              value: mode,
              label: t(`modes.${mode}`),
              about: t(`modes.${mode}About`),
            }))}
            {...choose('waf_mode')}
          />
          <Choices
            label={t('paranoia')}
            description={t('paranoiaAbout')}
            choices={LEVELS.map((level) => ({
              value: level,
              label: t(`levels.l${level}`),
              about: t(`costs.l${level}`),
            }))}
            {...choose('waf_paranoia_level')}
          />
          <Stack gap="xs">
            <NumberInput
              label={t('threshold')}
              description={t('thresholdAbout')}
              min={1}
              max={10_000}
              allowDecimal={false}
              clampBehavior="none"
              maw={420}
              {...form.getInputProps('waf_anomaly_threshold')}
            />
            <ThresholdInWords threshold={Number(values.waf_anomaly_threshold)} />
          </Stack>
          <Choices
            label={t('failMode')}
            choices={(['closed', 'open'] as const).map((mode) => ({
              value: mode,
              label: t(`failModes.${mode}`),
              about: t(`failModes.${mode}About`),
            }))}
            {...choose('waf_fail_mode')}
          />
        </Stack>
      </Card>
      <Accordion variant="separated" radius="md" defaultValue={null}>
        <Accordion.Item value="request">
          <Accordion.Control>
            {t('request')}
            <Text size="sm" c="dimmed">
              {t('requestAbout')}
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="md">
              <TextInput
                label={t('methods')}
                description={t('methodsHint')}
                placeholder={asDefault('waf_allowed_methods')}
                spellCheck={false}
                {...form.getInputProps('waf_allowed_methods')}
              />
              <Textarea
                label={t('contentTypes')}
                description={t('contentTypesHint')}
                placeholder={asDefault('waf_allowed_content_types')}
                autosize
                minRows={2}
                maxRows={10}
                spellCheck={false}
                {...form.getInputProps('waf_allowed_content_types')}
              />
              <NumberInput
                label={t('bodyLimit')}
                description={t('bodyLimitHint', {
                  size: formatNumber(Number(values.waf_body_limit) / 1_000_000, {
                    style: 'unit',
                    unit: 'megabyte',
                    maximumFractionDigits: 1,
                  }),
                })}
                min={1_024}
                max={104_857_600}
                allowDecimal={false}
                clampBehavior="none"
                thousandSeparator=","
                maw={420}
                {...form.getInputProps('waf_body_limit')}
              />
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </PageForm>
  );
};
