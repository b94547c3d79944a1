import { Anchor, Button, List, Loader, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { screensOf } from '../../../app/guide-of.ts';
import { guideBySection } from '../../../app/guide-titles.ts';
import { Lost } from '../../../app/lost.tsx';
import { useWho } from '../../../app/who.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { useHash } from '../../../ui/use-hash.ts';
import { pageOf } from './pages.ts';
import { Parts } from './parts.tsx';

/** All pages of the guide. */
export const Guide = () => {
  const { t, i18n } = useTranslation(['system', 'views']);
  return (
    <Page title={t('guide.title')}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xl" maw={1100}>
        {[...guideBySection(i18n.resolvedLanguage ?? 'en')].map(([section, pages]) => (
          <section key={section ?? ''}>
            <Title order={2} size="md" mb="xs">
              {section === undefined ? t('guide.besides') : t(`views:${section}`)}
            </Title>
            <List spacing={6} listStyleType="none">
              {pages.map(({ name, title, language }) => (
                <List.Item key={name}>
                  <Anchor component={Link} to={`/guide/${name}`} lang={language}>
                    {title}
                  </Anchor>
                </List.Item>
              ))}
            </List>
          </section>
        ))}
      </SimpleGrid>
    </Page>
  );
};

/** A page of the guide, and ways to the screens that it is about. */
export const GuidePageView = () => {
  const { t, i18n } = useTranslation(['system', 'views']);
  const { page = '' } = useParams();
  const hash = useHash();
  const { isAdmin } = useWho();
  const spoken = i18n.resolvedLanguage ?? 'en';
  const found = pageOf(page, spoken);
  const { data, error, refetch } = useQuery({
    queryKey: ['guide-page', page, found?.language],
    queryFn: () => found?.fetch() ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isRead = data !== undefined;
  // The page is asked for a heading before it has any.
  useEffect(() => {
    if (isRead && hash !== '') document.getElementById(hash)?.scrollIntoView();
  }, [isRead, hash]);
  if (!found) return <Lost />;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loader />;
  const screens = screensOf(page).filter((view) => isAdmin || view.isAdmins !== true);
  const actions = (
    <>
      {screens.map(({ path, name }) => (
        <Button key={name} component={Link} to={path} variant="default" size="xs">
          {t(`views:${name}`)}
        </Button>
      ))}
      <Button component={Link} to="/guide" variant="subtle" size="xs">
        {t('guide.title')}
      </Button>
    </>
  );
  return (
    <Page
      title={data.title}
      actions={actions}
      {...(found.language === spoken ? {} : { about: t('guide.onlyEnglish'), titleLanguage: found.language })}
    >
      <Stack gap="sm" maw={860} lang={found.language}>
        <Parts parts={data.parts} page={page} />
      </Stack>
      <Text size="xs" c="dimmed">
        {t('guide.ofThisVersion', { version: SALLYPORT_VERSION })}
      </Text>
    </Page>
  );
};
