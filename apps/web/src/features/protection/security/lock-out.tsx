import { Button, Group, Text, Textarea } from '@mantine/core';
import type { SecurityConfigAnswer, Session } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import type { Answer } from '../../../api/client.ts';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { PageForm } from '../../../ui/form/page-form.tsx';
import { usePageForm } from '../../../ui/form/use-page-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Panel } from '../../../ui/panel.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { useSaveConfig } from './stored.ts';

interface ConfigProps {
  answer: Answer<SecurityConfigAnswer>;
  /** Whether a change acts at once, and so may lock out. */
  isActing: boolean;
}

const entriesOf = (list: string): string[] => list.split(/[\s,]+/).filter(Boolean);

/** The address this browser's session comes from. */
const useOwnAddress = () =>
  useRead<Session[]>('/auth/sessions', { retry: false }).data?.find((session) => session.is_current)?.ip;

/** Whether the address one comes from is in the list as it is typed. A network that holds it is the server's to know. */
const OwnAddress = ({ whitelist, onAdd }: { whitelist: string; onAdd: (ip: string) => void }) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const ip = useOwnAddress();
  if (ip === undefined) return null;
  const isIn = entriesOf(whitelist).some((entry) => entry === ip || entry === `${ip}/32` || entry === `${ip}/128`);
  return (
    <Group gap="xs">
      <Text size="sm">{t('security.youAre', { ip })}</Text>
      {isIn ? (
        <StateBadge kind="good">{t('security.youAreIn')}</StateBadge>
      ) : (
        <>
          <StateBadge kind="warning">{t('security.youAreOut')}</StateBadge>
          {isAdmin && (
            <Button size="xs" variant="default" onClick={() => onAdd(ip)}>
              {t('security.addMine')}
            </Button>
          )}
        </>
      )}
    </Group>
  );
};

/** Whom nothing ever stops. */
export const LockOut = ({ answer, isActing }: ConfigProps) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const save = useSaveConfig(isActing);
  const object = usePageForm(answer, ({ config }) => ({ admin_whitelist: config?.admin_whitelist ?? '' }), save);
  const { form } = object;
  const { admin_whitelist } = form.getValues();
  return (
    <Panel title={t('security.lockOut')} about={t('security.lockOutAbout')}>
      <PageForm
        object={object}
        isReadOnly={!isAdmin}
        onSaved={() => notifyDone(t(isActing ? 'security.savedPending' : 'security.saved'))}
      >
        <Textarea
          label={t('security.whitelist')}
          description={t('security.whitelistHint')}
          autosize
          minRows={2}
          maxRows={8}
          spellCheck={false}
          {...form.getInputProps('admin_whitelist')}
        />
        <OwnAddress
          whitelist={admin_whitelist}
          onAdd={(ip) => form.setFieldValue('admin_whitelist', [...entriesOf(admin_whitelist), ip].join(', '))}
        />
      </PageForm>
    </Panel>
  );
};
