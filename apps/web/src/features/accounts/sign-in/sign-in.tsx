import { useTranslation } from 'react-i18next';
import { Navigate, useNavigate, useSearchParams } from 'react-router';
import { queryClient } from '../../../api/query.ts';
import { useSession } from '../../../api/session.ts';
import { FrontDoor } from '../front-door.tsx';
import { CredentialsForm } from './credentials-form.tsx';

/** Where to go afterwards: an address of ours, never another site's. */
const ownPath = (next: string | null): string => (next !== null && /^\/(?![/\\])/.test(next) ? next : '/');

/** Where one signs in; afterwards back to where one was. */
export const SignIn = () => {
  const { t } = useTranslation('accounts');
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const session = useSession();
  if (session.state === 'setup') return <Navigate to="/setup" replace />;
  if (session.state === 'in') return <Navigate to={ownPath(search.get('next'))} replace />;

  const goOn = async () => {
    await queryClient.resetQueries();
    void navigate(ownPath(search.get('next')), { replace: true });
  };
  return (
    <FrontDoor title={t('signIn.title')}>
      <CredentialsForm onSignedIn={goOn} />
    </FrontDoor>
  );
};
