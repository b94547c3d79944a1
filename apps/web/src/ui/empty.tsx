import { Center, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyProps {
  title: string;
  /** What belongs here, and why one would want it. */
  children: ReactNode;
  /** The first step. */
  action?: ReactNode;
}

/** What a place shows that has nothing yet: what it is for, and the first step. */
export const Empty = ({ title, children, action }: EmptyProps) => (
  <Center py="xl">
    <Stack align="center" gap="xs" maw={460} ta="center">
      <Title order={2}>{title}</Title>
      <Text c="dimmed" size="sm" component="div">
        {children}
      </Text>
      {action}
    </Stack>
  </Center>
);
