import { Group, Loader, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import type { CertificateStep } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { IconCheck, IconCircleDashed, IconX } from '../../../ui/icons.ts';

const SIGNS = {
  waiting: { color: 'gray', sign: <IconCircleDashed size={14} aria-hidden /> },
  running: { color: 'blue', sign: <Loader size={12} color="blue" aria-hidden /> },
  done: { color: 'verdigris', sign: <IconCheck size={14} aria-hidden /> },
  failed: { color: 'red', sign: <IconX size={14} aria-hidden /> },
} as const;

/** How far an order is, step by step, with what each one says. */
export const OrderSteps = ({ steps }: { steps: readonly CertificateStep[] }) => {
  const { t } = useTranslation('traffic');
  return (
    <Stack component="ol" gap={6} m={0} p={0} aria-label={t('certificates.steps')} style={{ listStyle: 'none' }}>
      {steps.map(({ name, status, message }) => (
        <Group component="li" key={name} gap="sm" wrap="nowrap" align="flex-start" data-status={status}>
          <ThemeIcon variant="light" color={SIGNS[status].color} size={22} radius="xl" mt={1}>
            {SIGNS[status].sign}
          </ThemeIcon>
          <div>
            <Text
              size="sm"
              fw={status === 'running' ? 600 : 400}
              c={status === 'waiting' ? 'dimmed' : 'var(--mantine-color-text)'}
            >
              {t(`certificates.stepNames.${name}`)}
              <VisuallyHidden>: {t(`certificates.stepStates.${status}`)}</VisuallyHidden>
            </Text>
            {message !== '' && (
              <Text size="xs" c={status === 'failed' ? 'red' : 'dimmed'} className="foreign">
                {message}
              </Text>
            )}
          </div>
        </Group>
      ))}
    </Stack>
  );
};
