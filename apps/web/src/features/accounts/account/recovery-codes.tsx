import { Alert, Button, CopyButton, Group, SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useUnsaved } from '../../../ui/form/unsaved.ts';
import { IconCopy, IconDownload } from '../../../ui/icons.ts';
import { saveText } from '../../../ui/save-text.ts';

/** The codes that stand in for the app, this one time. */
export const RecoveryCodes = ({ codes, onKept }: { codes: readonly string[]; onKept: () => void }) => {
  const { t } = useTranslation('accounts');
  useUnsaved(() => true);
  const text = `${codes.join('\n')}\n`;
  return (
    <Alert color="verdigris" variant="light" title={t('account.factor.codes')}>
      <Text size="sm">{t('account.factor.codesAbout')}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" my="md" component="ul" pl={0} style={{ listStyle: 'none' }}>
        {codes.map((code) => (
          <Text key={code} component="li" ff="monospace" fw={600}>
            {code}
          </Text>
        ))}
      </SimpleGrid>
      <Group gap="xs">
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button variant="default" size="xs" leftSection={<IconCopy size={14} />} onClick={copy}>
              {copied ? t('account.factor.codesCopied') : t('account.factor.copyCodes')}
            </Button>
          )}
        </CopyButton>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={14} />}
          onClick={() => saveText('sallyport-recovery-codes.txt', text)}
        >
          {t('account.factor.saveCodes')}
        </Button>
        <Button size="xs" onClick={onKept}>
          {t('account.factor.kept')}
        </Button>
      </Group>
    </Alert>
  );
};
