import { SimpleGrid, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useWho } from '../../../app/who.ts';
import { Page } from '../../../ui/page.tsx';
import { Section } from '../../../ui/section.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** Whoever is signed in: name, password, second factor, and where else they are signed in. */
export const Account = () => {
  const { t } = useTranslation('accounts');
  const { user } = useWho();
  if (!user) return null;
  return (
    <Page title={t('account.title')} about={t('account.about')}>
      <Stack gap="md" maw={1100}>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Profile user={user} />
          <Password user={user} />
        </SimpleGrid>
        <Section title={t('account.factor.title')} about={t('account.factor.about')}>
          <SecondFactor isOn={user.totp_enabled} />
        </Section>
        <Sessions />
      </Stack>
    </Page>
  );
};
