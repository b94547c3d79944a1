import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useRouteError } from 'react-router';

/** An address that leads nowhere, or a screen that failed: says which, and leads back. */
export const Lost = () => {
  const { t } = useTranslation();
  // null where nothing failed.
  const error: unknown = useRouteError() ?? undefined;
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
