import type { AccessList, ListedCertificate, ProxyHost } from '@sallyport/contract';
import type { TFunction } from 'i18next';
import { memo, type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { Hint } from '../../../ui/hint.tsx';
import { IconExternalLink, IconKey, IconLock, IconPlugConnected, IconShield } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import classes from '../../../ui/table/row.module.css';
import { RowLink } from '../../../ui/table/row-link.tsx';
import { firstNameOf, originOf, siteOf } from './addresses.ts';
import { HostMenu } from './host-menu.tsx';
import { stateOf } from './host-state.ts';
import { HostStateBadge } from './host-state-badge.tsx';

interface CellProps {
  host: ProxyHost;
  /** Handed down: to ask for it in each cell takes longer than to draw the cell. */
  t: TFunction<'traffic'>;
}

const ELSEWHERE = <IconExternalLink size={14} aria-hidden />;

const Domain = ({ host, t, search }: CellProps & { search: string }) => {
  const [first = '', ...others] = host.domain.split(',');
  const site = siteOf(host);
  return (
    <div className={classes.line}>
      <RowLink to={`/hosts/${host.uuid}${search}`} name={first} />
      {others.length > 0 && (
        <Hint className={classes.more} label={<span className="foreign">{others.slice(0, 20).join(', ')}</span>}>
          +{others.length}
        </Hint>
      )}
      {site !== undefined && (
        <a
          className={`${classes.action} ${classes.small} ${classes.wide}`}
          href={site}
          target="_blank"
          rel="noreferrer"
          aria-label={t('hosts.visit', { name: first })}
        >
          {ELSEWHERE}
        </a>
      )}
    </div>
  );
};

const SIGNS = [
  { feature: 'forced', icon: <IconLock size={16} aria-hidden />, has: (host: ProxyHost) => host.ssl_forced },
  { feature: 'firewall', icon: <IconShield size={16} aria-hidden />, has: (host: ProxyHost) => host.waf_enabled },
  {
    feature: 'accessList',
    icon: <IconKey size={16} aria-hidden />,
    has: (host: ProxyHost) => host.access_list_id !== null,
  },
  {
    feature: 'websocket',
    icon: <IconPlugConnected size={16} aria-hidden />,
    has: (host: ProxyHost) => host.websocket_support,
  },
] as const;

const Sign = memo(({ label, isThere, icon }: { label: string; isThere: boolean; icon: ReactNode }) => (
  <span className={`${classes.sign} ${isThere ? '' : classes.lacking}`} title={label} role="img" aria-label={label}>
    {icon}
  </span>
));

/** What a host has, a sign each in a place of its own, so that a column of them can be compared. */
const Features = ({ host, t, list }: CellProps & { list: string | undefined }) => (
  <div className={classes.line}>
    {SIGNS.map(({ feature, icon, has }) => {
      const isThere = has(host);
      const name = t(`hosts.${isThere ? 'features' : 'lacks'}.${feature}`);
      const label = isThere && feature === 'accessList' && list !== undefined ? `${name}: ${list}` : name;
      return <Sign key={feature} label={label} isThere={isThere} icon={icon} />;
    })}
  </div>
);

const namesById = (all: readonly { id: number; name: string }[] | undefined): ReadonlyMap<number, string> =>
  new Map(all?.map(({ id, name }) => [id, name]));

/** The columns of the list of hosts, and which of them can be hidden. */
export const useHostColumns = () => {
  const { t } = useTranslation('traffic');
  const [query] = useSearchParams();
  const search = query.size > 0 ? `?${query}` : '';
  const certificates = useRead<ListedCertificate[]>('/certificates').data;
  const lists = useRead<AccessList[]>('/access-lists').data;
  return useMemo(() => {
    const certificateNames = namesById(certificates);
    const listNames = namesById(lists);
    const certificateOf = ({ certificate_id, auto_certificate }: ProxyHost): string => {
      if (certificate_id !== null) return certificateNames.get(certificate_id) ?? String(certificate_id);
      return t(auto_certificate ? 'hosts.certificateAuto' : 'hosts.certificateMatch');
    };
    const optional = {
      name: t('hosts.fields.name.label'),
      origin: t('hosts.origin'),
      certificate: t('hosts.certificate'),
      features: t('hosts.hasFeatures'),
      updated_at: t('hosts.changedAt'),
      created_at: t('hosts.createdAt'),
    };
    const columns: Column<ProxyHost>[] = [
      {
        accessorKey: 'domain',
        header: t('hosts.domain'),
        size: 200,
        sortingFn: 'basic',
        meta: { grow: 3, isVital: true, draw: (host) => <Domain host={host} t={t} search={search} /> },
      },
      {
        accessorKey: 'name',
        header: optional.name,
        size: 140,
        sortingFn: 'basic',
        meta: { grow: 1, draw: ({ name }) => <span className="foreign">{name}</span> },
      },
      {
        id: 'origin',
        accessorFn: originOf,
        header: optional.origin,
        size: 170,
        sortingFn: 'basic',
        meta: { grow: 2, draw: (host) => <span className="foreign">{originOf(host)}</span> },
      },
      {
        id: 'state',
        accessorFn: stateOf,
        header: t('hosts.state'),
        size: 155,
        sortingFn: 'basic',
        meta: { isVital: true, narrow: 116, draw: (host) => <HostStateBadge host={host} t={t} /> },
      },
      {
        id: 'certificate',
        accessorFn: certificateOf,
        header: optional.certificate,
        size: 110,
        sortingFn: 'basic',
        meta: { grow: 1, draw: (host) => <span className="foreign">{certificateOf(host)}</span> },
      },
      {
        id: 'features',
        header: optional.features,
        size: 120,
        enableSorting: false,
        meta: {
          draw: (host) => (
            <Features
              host={host}
              t={t}
              list={host.access_list_id === null ? undefined : listNames.get(host.access_list_id)}
            />
          ),
        },
      },
      {
        accessorKey: 'updated_at',
        header: optional.updated_at,
        size: 132,
        sortingFn: 'basic',
        meta: { draw: ({ updated_at }) => <Moment at={updated_at} /> },
      },
      {
        accessorKey: 'created_at',
        header: optional.created_at,
        size: 120,
        sortingFn: 'basic',
        meta: { draw: ({ created_at }) => <Moment at={created_at} /> },
      },
      {
        id: 'actions',
        header: '',
        size: 52,
        enableSorting: false,
        meta: {
          isVital: true,
          narrow: 48,
          draw: (host) => <HostMenu host={host} label={t('hosts.actionsOf', { name: firstNameOf(host) })} />,
        },
      },
    ];
    return { columns, hideable: Object.entries(optional).map(([id, label]) => ({ id, label })) };
  }, [t, search, certificates, lists]);
};
