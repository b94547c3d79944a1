import { Anchor, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import type { CrowdsecStatus } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Page } from '../../../ui/page.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { TableBar } from '../../../ui/table/table-bar.tsx';

type Package = (typeof SALLYPORT_PACKAGES)[number];

const idOf = ([name, version]: Package): string => `${name} ${version}`;
const textOf = (one: Package): string => one.join(' ');
const NODE = /nodejs_version_info\{version="([^"]+)"/;

/** Which version this is, what it is made of under which licences, and where its API is described. */
export const About = () => {
  const { t } = useTranslation('system');
  const { isAdmin } = useWho();
  const [search, setSearch] = useState('');
  const { data: metrics } = useRead<string>('/metrics');
  const { data: crowdsec } = useRead<CrowdsecStatus>('/admin/crowdsec/status', { isOn: isAdmin });
  const columns = useMemo<Column<Package>[]>(
    () => [
      { id: 'name', accessorFn: ([name]) => name, header: t('about.package'), meta: { grow: 2, isVital: true } },
      { id: 'version', accessorFn: ([, version]) => version, header: t('about.version'), size: 110 },
      {
        id: 'licence',
        accessorFn: ([, , licence]) => licence,
        header: t('about.licence'),
        meta: { grow: 1, isVital: true },
      },
    ],
    [t],
  );
  const versions: [string, string | null | undefined][] = [
    ['Sallyport', SALLYPORT_VERSION],
    ['Node.js', NODE.exec(metrics ?? '')?.[1]],
    ['CrowdSec', crowdsec?.version],
  ];
  return (
    <Page title={t('about.title')} about={t('about.about')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <Paper withBorder p="md" component="section">
          <Title order={2} mb="xs">
            {t('about.versions')}
          </Title>
          {versions.map(
            ([name, version]) =>
              version && (
                <Text key={name} size="sm">
                  {name} <b>{version}</b>
                </Text>
              ),
          )}
          <Text size="sm" mt="xs" c="dimmed">
            {t('about.ours')}
          </Text>
        </Paper>
        <Paper withBorder p="md" component="section">
          <Title order={2} mb="xs">
            {t('about.api')}
          </Title>
          <Text size="sm" mb="xs">
            {t('about.apiAbout')}
          </Text>
          <Anchor href="/api/docs" size="sm" display="block" w="fit-content" py={4}>
            {t('about.apiDocs')}
          </Anchor>
          <Anchor href="/api/v1/openapi.json" size="sm" display="block" w="fit-content" py={4}>
            {t('about.openapi')}
          </Anchor>
          <Anchor href="/metrics" size="sm" display="block" w="fit-content" py={4}>
            {t('about.metrics')}
          </Anchor>
        </Paper>
      </SimpleGrid>
      <Title order={2}>{t('about.packages')}</Title>
      <TableBar search={search} onSearch={setSearch} count={SALLYPORT_PACKAGES.length} />
      <DataTable
        label={t('about.packages')}
        rows={SALLYPORT_PACKAGES}
        columns={columns}
        rowId={idOf}
        textOf={textOf}
        search={search}
        empty={t('noMatch')}
      />
    </Page>
  );
};
