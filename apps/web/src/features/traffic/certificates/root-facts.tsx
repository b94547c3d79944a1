import { Button, SimpleGrid, Text } from '@mantine/core';
import type { InternalRoot } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { urlOf } from '../../../api/client.ts';
import { formatMoment } from '../../../i18n/formats.ts';
import { IconDownload } from '../../../ui/icons.ts';

interface RootFactsProps {
  root: InternalRoot;
  /** Where it is downloaded, and what the button says. */
  path: string;
  download: string;
}

/** What tells a root from others, and the file that devices are to trust. */
export const RootFacts = ({ root: { subject, not_after, sha256 }, path, download }: RootFactsProps) => {
  const { t } = useTranslation('traffic');
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <div>
          <Text size="xs" c="dimmed">
            {t('authority.subject')}
          </Text>
          <Text size="sm" className="foreign">
            {subject}
          </Text>
        </div>
        <div>
          <Text size="xs" c="dimmed">
            {t('authority.until')}
          </Text>
          <Text size="sm">{formatMoment(not_after)}</Text>
        </div>
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="sm">
        {t('authority.fingerprint')}
      </Text>
      <Text size="sm" ff="monospace" className="foreign">
        {sha256}
      </Text>
      <Button component="a" href={urlOf(path)} download mt="md" mr="auto" leftSection={<IconDownload size={16} />}>
        {download}
      </Button>
    </>
  );
};
