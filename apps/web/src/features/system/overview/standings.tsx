import { Anchor, Group, Paper, SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { Standing } from './judge.ts';
import classes from './standings.module.css';

/** How everything stands: a card each, the whole of which leads to its cure. */
export const Standings = ({ all }: { all: readonly Standing[] }) => {
  const { t } = useTranslation('system');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" component="ul" p={0} m={0}>
      {all.map(({ name, kind, word, why, to }) => (
        <Paper key={name} component="li" withBorder p="sm" pos="relative" style={{ listStyle: 'none' }}>
          <Group justify="space-between" gap="xs" mb={6}>
            <Anchor component={Link} to={to} className={classes.link} fw={600} size="sm" c="inherit">
              {t(`overview.names.${name}`)}
            </Anchor>
            <StateBadge kind={kind}>{word}</StateBadge>
          </Group>
          <Text size="sm" c="dimmed" className="foreign" lineClamp={4}>
            {why}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
};
