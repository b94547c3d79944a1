import { Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { signOut } from '../../../api/sign-out.ts';
import { notifyFailed } from '../../../ui/notify.ts';
import { FrontDoor } from '../front-door.tsx';
import { SecondFactor } from './second-factor.tsx';

/** Where whoever has to set up the second factor first is led: until then the service refuses all else. */
export const Enrol = ({ onDone }: { onDone: () => void }) => {
  const { t } = useTranslation(['accounts', 'common']);
  const leave = () => void signOut().catch(notifyFailed);
  return (
    <FrontDoor title={t('account.factor.must')} about={t('account.factor.mustAbout')}>
      <Stack>
        <SecondFactor isOn={false} mustBegin onDone={onDone} />
        <Button variant="subtle" color="gray" size="xs" onClick={leave}>
          {t('common:signOut')}
        </Button>
      </Stack>
    </FrontDoor>
  );
};
