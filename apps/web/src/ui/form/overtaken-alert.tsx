import { Alert, Box, Button, Group, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ObjectForm } from './use-object-form.ts';

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

/** So many letters are seen at once. */
const MOST_SEEN = 300;

/** A value of a field; a long text scrolls within its place. */
const Version = ({ value }: { value: unknown }) => {
  const text = shown(value);
  if (text.length <= MOST_SEEN) return text;
  return (
    // What scrolls must be reached by keyboard.
    <Box mah={240} tabIndex={0} style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}>
      {text}
    </Box>
  );
};

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
              <Table.Td className="foreign">
                <Version value={theirs} />
              </Table.Td>
              <Table.Td className="foreign">
                <Version value={values[field]} />
              </Table.Td>
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
