import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import type { RecoveryCodes as Codes, TotpSecret } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../../api/client.ts';
import { queryClient } from '../../../api/query.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { ScanSecret } from './scan-secret.tsx';

/** What needs the password first. */
type Wish = 'begin' | 'renew' | 'disable';

interface ProveProps {
  about: string;
  action: string;
  onPassword: (password: string) => Promise<unknown>;
  onCancel?: (() => void) | undefined;
}

const Prove = ({ about, action, onPassword, onCancel }: ProveProps) => {
  const { t } = useTranslation(['accounts', 'common']);
  const { form, problem, isSaving, submit } = useObjectForm('', { password: '' }, ({ password }) =>
    onPassword(password),
  );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack maw={420}>
        <PasswordInput
          label={t('account.factor.prove')}
          description={about}
          autoComplete="current-password"
          data-autofocus
          autoFocus
          {...form.getInputProps('password')}
        />
        <Problem error={problem} />
        <Group gap="xs">
          <Button type="submit" loading={isSaving}>
            {action}
          </Button>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {t('common:cancel')}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
};

/**
 * Sets the second factor up, renews its recovery codes, turns it off. What is shown once stays until it was kept, whatever is
 * read anew meanwhile. `mustBegin`: there is nothing else to do first.
 */
export const SecondFactor = ({
  isOn,
  mustBegin = false,
  onDone,
}: {
  isOn: boolean;
  mustBegin?: boolean;
  onDone?: () => void;
}) => {
  const { t } = useTranslation(['accounts', 'common']);
  const [wish, setWish] = useState<Wish | undefined>(mustBegin ? 'begin' : undefined);
  const [secret, setSecret] = useState<TotpSecret>();
  const [codes, setCodes] = useState<readonly string[]>();

  const done = async () => {
    setWish(undefined);
    setSecret(undefined);
    setCodes(undefined);
    await queryClient.invalidateQueries({ queryKey: ['auth'] });
    onDone?.();
  };
  const grant: Record<Wish, (password: string) => Promise<unknown>> = {
    begin: (password) =>
      ask<TotpSecret>('POST', '/auth/totp/setup', { body: { password } }).then(({ data }) => setSecret(data)),
    renew: (password) =>
      ask<Codes>('POST', '/auth/totp/recovery-codes', { body: { password } }).then(({ data }) =>
        setCodes(data.recovery_codes),
      ),
    disable: (password) =>
      ask('POST', '/auth/totp/disable', { body: { password } })
        .then(() => notifyDone(t('account.factor.disabled')))
        .then(done),
  };

  if (codes) return <RecoveryCodes codes={codes} onKept={() => void done()} />;
  if (secret) {
    return (
      <ScanSecret
        secret={secret}
        onCodes={({ recovery_codes }) => setCodes(recovery_codes)}
        onCancel={mustBegin ? undefined : () => setSecret(undefined)}
      />
    );
  }
  if (wish) {
    const about = { begin: 'proveAbout', renew: 'renewAbout', disable: 'disableAbout' } as const;
    const action = { begin: 'go', renew: 'renew', disable: 'disable' } as const;
    return (
      <Prove
        key={wish}
        about={t(`account.factor.${about[wish]}`)}
        action={t(`account.factor.${action[wish]}`)}
        onPassword={grant[wish]}
        onCancel={mustBegin ? undefined : () => setWish(undefined)}
      />
    );
  }
  return (
    <Group gap="xs">
      <StateBadge kind={isOn ? 'good' : 'off'}>{t(isOn ? 'account.factor.isOn' : 'account.factor.isOff')}</StateBadge>
      <Text span ml="auto" />
      {isOn ? (
        <>
          <Button variant="default" onClick={() => setWish('renew')}>
            {t('account.factor.renew')}
          </Button>
          <Button variant="default" onClick={() => setWish('disable')}>
            {t('account.factor.disable')}
          </Button>
        </>
      ) : (
        <Button onClick={() => setWish('begin')}>{t('account.factor.begin')}</Button>
      )}
    </Group>
  );
};
