import { Card, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of a screen that stands for itself: its title, what it is about, and its content. */
export const Section = ({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) => (
  <Card withBorder component="section" aria-label={title} padding="lg">
    <Title order={2}>{title}</Title>
    {about !== undefined && (
      <Text c="dimmed" size="sm" mt={2} component="div">
        {about}
      </Text>
    )}
    <Stack gap="md" mt="md">
      {children}
    </Stack>
  </Card>
);
