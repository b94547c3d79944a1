import { Box, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PanelProps {
  title: string;
  about?: ReactNode;
  /** A state or a button, across from the title. */
  aside?: ReactNode;
  children?: ReactNode;
}

/** A part of a screen that is about one thing. */
export const Panel = ({ title, about, aside, children }: PanelProps) => (
  <Paper component="section" withBorder p="md" aria-label={title}>
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box flex="1 1 16rem" maw={720}>
          <Title order={2}>{title}</Title>
          {about && (
            <Text size="sm" c="dimmed" mt={2} component="div">
              {about}
            </Text>
          )}
        </Box>
        {aside}
      </Group>
      {children}
    </Stack>
  </Paper>
);
