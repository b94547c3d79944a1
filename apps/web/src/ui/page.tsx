import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface PageProps {
  title: string;
  /** Where it is not the one that is spoken. */
  titleLanguage?: string;
  /** One sentence: what this page is for. */
  about?: string;
  /** What can be done here. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen: its title, what it is for, what can be done, and its content. */
export const Page = ({ title, titleLanguage, about, actions, children }: PageProps) => {
  useDocumentTitle(`${title} · Sallyport`);
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box maw={720}>
          <Title order={1} lang={titleLanguage}>
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" size="sm" mt={2}>
              {about}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
};
