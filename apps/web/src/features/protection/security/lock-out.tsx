import { Button, Group, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { AccessDraftResult, SecurityConfigAnswer } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import type { Answer } from '../../../api/client.ts';
import { useAsked } from '../../../api/query.ts';
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

const TYPING_MS = 300;

/** Where the reader comes from, and whether that is among `entries`; as the server judges it, who knows what is in a network. */
const useOwnAddress = (entries: readonly string[]) => {
  const [asked] = useDebouncedValue(entries.join('\n'), TYPING_MS);
  const rules = asked === '' ? [] : asked.split('\n').map((cidr) => ({ cidr }));
  // A list of those who stay out: an empty one is no mistake.
  const { data, error } = useAsked<AccessDraftResult>('/access-lists/test', { type: 'deny', rules });
  const isJudged = error === null && asked === entries.join('\n');
  return data && { ip: data.ip, isIn: isJudged ? !data.allowed : undefined };
};

/** Whether the address one comes from is in the list as it is typed. */
const OwnAddress = ({ whitelist, onAdd }: { whitelist: string; onAdd: (ip: string) => void }) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const own = useOwnAddress(entriesOf(whitelist));
  if (own === undefined) return null;
  const { ip, isIn } = own;
  return (
    <Group gap="xs">
      <Text size="sm">{t('security.youAre', { ip })}</Text>
      {isIn && <StateBadge kind="good">{t('security.youAreIn')}</StateBadge>}
      {isIn === false && <StateBadge kind="warning">{t('security.youAreOut')}</StateBadge>}
      {isIn === false && isAdmin && (
        <Button size="xs" variant="default" onClick={() => onAdd(ip)}>
          {t('security.addMine')}
        </Button>
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
