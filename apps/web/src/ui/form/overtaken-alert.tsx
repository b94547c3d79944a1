import { Alert, Button, Group, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ObjectForm } from './use-object-form.ts';

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

interface OvertakenAlertProps<T extends Record<string, unknown>> {
  object: ObjectForm<T>;
  /** Gives up what was typed. */
  onTakeTheirs: () => void;
}

/** Another one's change in between beside one's own, and the choice. Nothing when there was none. */
export const OvertakenAlert = <T extends Record<string, unknown>>({ object, onTakeTheirs }: OvertakenAlertProps<T>) => {
  const { form, overtaken, goOn } = object;
  const { t } = useTranslation();
  if (!overtaken) return null;
  const values = form.getValues();
  const differing = Object.entries(overtaken.current).filter(
    ([field, theirs]) => field in values && shown(theirs) !== shown(values[field]),
  );
  return (
    <Alert color="yellow" role="alert" title={t('overtaken')}>
      <Text size="sm">{t('overtakenHint')}</Text>
      <Table mt="xs" fz="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('field')}</Table.Th>
            <Table.Th>{t('theirs')}</Table.Th>
            <Table.Th>{t('yours')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {differing.map(([field, theirs]) => (
            <Table.Tr key={field}>
              <Table.Td>{field}</Table.Td>
              <Table.Td className="foreign">{shown(theirs)}</Table.Td>
              <Table.Td className="foreign">{shown(values[field])}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group mt="xs" gap="xs">
        <Button size="xs" onClick={goOn}>
          {t('keepMine')}
        </Button>
        <Button size="xs" variant="default" onClick={onTakeTheirs}>
          {t('takeTheirs')}
        </Button>
      </Group>
    </Alert>
  );
};
