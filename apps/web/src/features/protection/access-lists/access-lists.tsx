import { Button } from '@mantine/core';
import type { AccessList } from '@sallyport/contract';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { IconPlus } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { ListPage } from '../../../ui/table/list-page.tsx';
import { RowLink } from '../../../ui/table/row-link.tsx';

const uuidOf = ({ uuid }: AccessList): string => uuid;
const textOf = ({ name, description, rules, countries }: AccessList): string =>
  [name, description, ...countries, ...rules.map(({ cidr, description: note }) => `${cidr} ${note}`)].join(' ');

/** Whether a list does what it says. */
const State = ({ list }: { list: AccessList }) => {
  const { t } = useTranslation('protection');
  if (!list.enabled) return <StateBadge kind="off">{t('accessLists.off')}</StateBadge>;
  if (list.warnings.length === 0) return <StateBadge kind="good">{t('accessLists.enabled')}</StateBadge>;
  const why = list.warnings.map(({ message }) => message).join('; ');
  return (
    <StateBadge kind="warning" why={why}>
      {t('accessLists.warning')}
    </StateBadge>
  );
};

/** Who may reach which hosts. The form of a list is beside it, at an address of its own. */
export const AccessLists = () => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const list = useRead<AccessList[]>('/access-lists');

  const columns = useMemo<Column<AccessList>[]>(
    () => [
      {
        accessorKey: 'name',
        header: t('accessLists.name'),
        size: 200,
        meta: { grow: 2, isVital: true },
        cell: ({ row: { original } }) => <RowLink to={`/access-lists/${original.uuid}`} name={original.name} />,
      },
      {
        id: 'type',
        accessorFn: ({ type }) => t(`accessLists.types.${type}`),
        header: t('accessLists.type'),
        size: 220,
        meta: { grow: 1 },
      },
      {
        id: 'networks',
        accessorFn: ({ rules }) => rules.length,
        header: t('accessLists.networks'),
        size: 110,
        cell: ({ getValue }) => formatNumber(getValue<number>()),
      },
      {
        id: 'countries',
        accessorFn: ({ countries }) => countries.join(' '),
        header: t('accessLists.countries'),
        size: 160,
        meta: { grow: 1 },
      },
      {
        id: 'state',
        accessorFn: ({ enabled, warnings }) => (enabled ? warnings.length : -1),
        header: t('accessLists.state'),
        size: 150,
        meta: { isVital: true },
        cell: ({ row: { original } }) => <State list={original} />,
      },
      {
        accessorKey: 'updated_at',
        header: t('accessLists.changed'),
        size: 150,
        cell: ({ row: { original } }) => <Moment at={original.updated_at} />,
      },
    ],
    [t],
  );

  const add = isAdmin && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate('/access-lists/new')}>
      {t('accessLists.add')}
    </Button>
  );
  return (
    <ListPage
      title={t('accessLists.title')}
      about={t('accessLists.about')}
      actions={add}
      list={list}
      none={{ title: t('accessLists.none'), about: t('accessLists.noneAbout') }}
      columns={columns}
      rowId={uuidOf}
      textOf={textOf}
    />
  );
};
