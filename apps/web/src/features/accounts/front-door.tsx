import { Box, Card, Center, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import icon from '../../app/icon.svg';

/** The frame of what is seen before one is signed in. */
export const FrontDoor = ({ title, about, children }: { title: string; about?: string; children: ReactNode }) => {
  useDocumentTitle(`${title} · Sallyport`);
  return (
    <Center mih="100dvh" p="md" component="main">
      <Box w="100%" maw={400}>
        <Stack align="center" gap={6} mb="lg">
          <img src={icon} alt="" width={44} height={44} />
          <Title order={1}>{title}</Title>
          {about !== undefined && (
            <Text c="dimmed" size="sm" ta="center" className="foreign">
              {about}
            </Text>
          )}
        </Stack>
        <Card withBorder padding="lg">
          {children}
        </Card>
      </Box>
    </Center>
  );
};
