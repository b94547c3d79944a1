import { Button, Card, Group, Text, Title } from '@mantine/core';
import type { InternalAuthority, InternalRoot } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { readAnew, useChange } from '../../../api/query.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { RootFacts } from './root-facts.tsx';

const PATH = '/certificates/internal-ca';

/** The button that makes the root that is to follow, where there is none yet. */
export const MakeButton = () => {
  const { t } = useTranslation('traffic');
  const { mutateAsync, isPending } = useChange<InternalAuthority>();
  const make = async () => {
    try {
      await mutateAsync({ method: 'POST', path: `${PATH}/next` });
      notifyDone(t('authority.made'));
    } catch (error) {
      notifyFailed(error as Error);
      // Somebody else may have made it meanwhile.
      await readAnew([PATH]);
    }
  };
  return (
    <Button variant="default" mr="auto" loading={isPending} onClick={() => void make()}>
      {t('authority.make')}
    </Button>
  );
};

/** What another root is for, and the button. */
export const MakeNextRoot = () => {
  const { t } = useTranslation('traffic');
  return (
    <>
      <Title order={2}>{t('authority.another')}</Title>
      <Text size="sm">{t('authority.anotherAbout')}</Text>
      <MakeButton />
    </>
  );
};

/** The root that is to follow: to be trusted first, and then let in the place of the one that signs, or given up. */
export const NextRoot = ({ root }: { root: InternalRoot }) => {
  const { t } = useTranslation('traffic');
  const { mutateAsync } = useChange();
  const post = async (what: 'take-over' | 'drop-next', said: string) => {
    // What is shown here, and no other that was made meanwhile.
    const body = { sha256: root.sha256 };
    await mutateAsync({ method: 'POST', path: `${PATH}/${what}`, body }).catch(async (error: unknown) => {
      await readAnew([PATH]);
      throw error;
    });
    notifyDone(said);
  };
  return (
    <Card withBorder component="section" aria-label={t('authority.next')}>
      <Title order={2}>{t('authority.next')}</Title>
      <Text size="sm" mt="xs" mb="sm">
        {t('authority.nextAbout')}
      </Text>
      <RootFacts root={root} path={`${PATH}/next-root.pem`} download={t('authority.downloadNext')} />
      <Group gap="xs" mt="md">
        <Confirm
          title={t('authority.takeOverTitle')}
          action={t('authority.takeOver')}
          onConfirm={() => post('take-over', t('authority.tookOver'))}
          trigger={(open) => (
            <Button variant="default" onClick={open}>
              {t('authority.takeOver')}
            </Button>
          )}
        >
          <Text size="sm">{t('authority.takeOverAbout')}</Text>
          <Text size="sm" mt="xs">
            {t('authority.takeOverGone')}
          </Text>
        </Confirm>
        <Confirm
          title={t('authority.dropTitle')}
          action={t('authority.drop')}
          onConfirm={() => post('drop-next', t('authority.dropped'))}
          trigger={(open) => (
            <Button variant="subtle" color="red" onClick={open}>
              {t('authority.drop')}
            </Button>
          )}
        >
          {t('authority.dropAbout')}
        </Confirm>
      </Group>
    </Card>
  );
};
