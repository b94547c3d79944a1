import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useRouteError } from 'react-router';
import { isMissingPart } from '../ui/missing-part.ts';

/** An address that leads nowhere, a screen that failed, or one that can't be fetched any more: says which, and leads on. */
export const Lost = () => {
  const { t } = useTranslation();
  // null where nothing failed.
  const error: unknown = useRouteError() ?? undefined;
  if (isMissingPart(error)) {
    return (
      <Center mih="60dvh">
        <Stack align="center" gap="xs" maw={520} role="alert">
          <Title order={1}>{t('missingPart')}</Title>
          <Text c="dimmed" ta="center">
            {t('missingPartHint')}
          </Text>
          <Button onClick={() => window.location.reload()}>{t('loadAnew')}</Button>
        </Stack>
      </Center>
    );
  }
  return (
    <Center mih="60dvh">
      <Stack align="center" gap="xs">
        <Title order={1}>{error === undefined ? t('lost') : t('failed')}</Title>
        <Text c="dimmed" className="foreign">
          {error instanceof Error ? error.message : t('lostHint')}
        </Text>
        <Button component={Link} to="/" reloadDocument={error !== undefined}>
          {t('toOverview')}
        </Button>
      </Stack>
    </Center>
  );
};
