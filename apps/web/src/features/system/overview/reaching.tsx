import { Accordion, Anchor, Code, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';

const port = (): string => window.location.port || (window.location.protocol === 'https:' ? '443' : '80');

/** The three ways to get to this interface from another machine, with what each means. */
export const Reaching = ({ envFile }: { envFile: string }) => {
  const { t } = useTranslation('system');
  const tunnel = `ssh -L ${port()}:127.0.0.1:${port()} user@server`;
  return (
    <Accordion variant="contained" mt="xs" maw={720}>
      <Accordion.Item value="tunnel">
        <Accordion.Control>{t('overview.reach.tunnel')}</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="xs">
            <Text size="sm">{t('overview.reach.tunnelAbout')}</Text>
            <Code block>{tunnel}</Code>
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
      <Accordion.Item value="host">
        <Accordion.Control>{t('overview.reach.host')}</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="xs">
            <Text size="sm">{t('overview.reach.hostAbout', { port: port() })}</Text>
            <Anchor component={Link} to="/hosts/new" size="sm">
              {t('overview.steps.host')}
            </Anchor>
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
      <Accordion.Item value="address">
        <Accordion.Control>{t('overview.reach.address')}</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="xs">
            <Text size="sm">{t('overview.reach.addressAbout', { file: envFile })}</Text>
            <Code block>{`SALLYPORT_HTTP_BIND=192.0.2.10:${port()}`}</Code>
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
      <Text size="sm" p="sm">
        {t('overview.reach.whichever')}{' '}
        <Anchor component={Link} to="/settings#app.public_url" inherit underline="always">
          {t('overview.reach.setIt')}
        </Anchor>
      </Text>
    </Accordion>
  );
};
