import { Anchor, Badge, Button, Collapse, Group, Paper, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { HistoryEntry } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconArrowBackUp, IconChevronRight } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { Name } from '../../../ui/name.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { placeOf } from './resources.ts';

const FIELDS_NAMED = 4;
/** Fields that a reader knows an object by, the best first. */
const NAMING = ['domain', 'name', 'ip'];

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value || '""' : JSON.stringify(value);
};

/** What the entry did, by its fields: something new had none before, something deleted has none after. */
const doneBy = ({ action, changes }: HistoryEntry): 'made' | 'deleted' | 'changed' => {
  if (/\.(create|upload|import|order)$/.test(action)) return 'made';
  // A setting has a value always, if only its default.
  if (changes.length === 0 || action.startsWith('setting')) return 'changed';
  if (changes.every(({ before }) => before === null)) return 'made';
  return changes.every(({ after }) => after === null) ? 'deleted' : 'changed';
};

/** The name that an object goes by: as the change shows it, or as it is called now. */
const nameOf = ({ changes, resource, name }: HistoryEntry): string => {
  const named = NAMING.flatMap((name) => changes.find(({ field }) => field === name) ?? [])
    .map(({ before, after }) => after ?? before)
    .find((text) => typeof text === 'string' && text !== '');
  return typeof named === 'string' ? named : name || placeOf(resource)?.id || resource;
};

const Diff = ({ changes }: Pick<HistoryEntry, 'changes'>) => {
  const { t } = useTranslation(['system', 'common']);
  return (
    <Table.ScrollContainer minWidth={300}>
      <Table fz="sm" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="26%">{t('common:field')}</Table.Th>
            <Table.Th>{t('history.before')}</Table.Th>
            <Table.Th>{t('history.after')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ field, before, after }) => (
            <Table.Tr key={field}>
              <Table.Td>
                <Name>{field}</Name>
              </Table.Td>
              <Table.Td className="foreign" style={{ whiteSpace: 'pre-wrap' }}>
                {shown(before)}
              </Table.Td>
              <Table.Td className="foreign" style={{ whiteSpace: 'pre-wrap' }}>
                {shown(after)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
};

/** One change of one object; opens to show from what to what. */
const Entry = ({ entry }: { entry: HistoryEntry }) => {
  const { t } = useTranslation('system');
  const [isOpen, { toggle }] = useDisclosure();
  const place = placeOf(entry.resource);
  const verb = doneBy(entry);
  const kind = place ? t(`history.one.${place.kind.name}`) : '';
  // There is one alone of its kind: it has no name of its own.
  const isOnly = place?.id === '';
  const fields = entry.changes.map(({ field }) => field);
  const more = fields.length - FIELDS_NAMED;
  return (
    <div>
      <Group gap="xs" align="baseline">
        <Badge variant="default" radius="sm" tt="none" fw={500} style={{ flexShrink: 0 }}>
          {t(`history.${verb}`)}
        </Badge>
        <Text size="sm" component="div" flex="1 1 11rem" miw={0}>
          {place && !isOnly && `${kind} `}
          {place && verb !== 'deleted' ? (
            <Anchor component={Link} to={place.screen} inherit underline="always">
              <Name>{isOnly ? kind : nameOf(entry)}</Name>
            </Anchor>
          ) : (
            <Name>{nameOf(entry)}</Name>
          )}
          {verb === 'changed' && (
            <Text span inherit c="dimmed" className="foreign">
              {' '}
              · {fields.slice(0, FIELDS_NAMED).join(', ')}
              {more > 0 && ` +${more}`}
            </Text>
          )}
        </Text>
        <Button
          ml="auto"
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-expanded={isOpen}
          leftSection={<IconChevronRight size={13} style={isOpen ? { transform: 'rotate(90deg)' } : undefined} />}
          onClick={toggle}
        >
          {t('history.details')}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>{isOpen && <Diff changes={entry.changes} />}</Collapse>
    </div>
  );
};

/** What one request changed, as far as it is on this page, with who and when, and taking it back. */
export const Batch = ({ entries }: { entries: readonly HistoryEntry[] }) => {
  const { t } = useTranslation('system');
  const { isAdmin } = useWho();
  // Whatever is on any screen may be otherwise after it.
  const { mutate, error, isPending } = useChange(['/']);
  const [first] = entries;
  if (!first) return null;
  const isMine = isAdmin || entries.every(({ resource }) => resource.startsWith('proxy-hosts/'));
  const { batch_size: size } = first;
  const [isMany, isPart] = [size > 1, entries.length < size];
  const revert = (path: string) =>
    mutate({ method: 'POST', path: `/history/${path}/revert` }, { onSuccess: () => notifyDone(t('history.reverted')) });
  const button = (label: string, path: string) => (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconArrowBackUp size={15} />}
      loading={isPending}
      onClick={() => revert(path)}
    >
      {label}
    </Button>
  );
  return (
    <Paper withBorder p="sm" component="article" aria-label={nameOf(first)}>
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm" c="dimmed" component="div">
          <Moment at={first.created_at} /> · <Name>{first.actor}</Name>
          {isMany && ` · ${t(isPart ? 'history.partOf' : 'history.together', { count: size, shown: entries.length })}`}
          {first.reverts !== null && ` · ${t('history.tookBack', { id: first.reverts })}`}
        </Text>
        {isMine && (
          <Group gap="xs">
            {isMany && entries.length === 1 && button(t('history.revertOne'), `${first.id}`)}
            {isMany
              ? button(t('history.revertAll', { count: size }), `batches/${first.batch}`)
              : button(t('history.revert'), `${first.id}`)}
          </Group>
        )}
      </Group>
      <Stack gap={6}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
        <Problem error={error} />
      </Stack>
    </Paper>
  );
};
