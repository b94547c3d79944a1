import { Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyField } from '../../../ui/copy-field.tsx';
import { Panel } from '../../../ui/panel.tsx';

/** As docs/guide/crowdsec.md has it. */
const BY_HAND = `install -d /etc/crowdsec
echo '# none: nothing is sent' > /etc/crowdsec/online_api_credentials.yaml
apt-get install --no-install-recommends crowdsec
systemctl disable --now crowdsec`;

/** How CrowdSec gets onto this machine. */
export const Install = () => {
  const { t } = useTranslation(['crowdsec', 'common']);
  return (
    <Stack maw={760}>
      <Panel title={t('install')} about={t('installAbout')}>
        <CopyField label={t('installHere')} value="bin/up --with=crowdsec" />
        <Stack gap="xs">
          <Text size="sm">{t('installByHand')}</Text>
          <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap' }}>
            {BY_HAND}
          </Code>
          <Group>
            <CopyButton value={BY_HAND}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy}>
                  {t(copied ? 'common:copied' : 'common:copy')}
                </Button>
              )}
            </CopyButton>
          </Group>
        </Stack>
        <Text size="sm" c="dimmed">
          {t('installAgain')}
        </Text>
      </Panel>
    </Stack>
  );
};
