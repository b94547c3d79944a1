import { Alert, Anchor, Button, Group, List, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { CertificateInUse } from '@sallyport/contract';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { urlOf } from '../../../api/client.ts';
import { useAnswer, useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { DeleteButton } from '../../../ui/delete-button.tsx';
import { IconAlertTriangle, IconDownload, IconRefresh } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Side } from '../../../ui/side.tsx';
import { CertificateBadge, isUnderWay } from './certificate-state.tsx';
import { KeyDownload } from './key-download.tsx';
import { OrderSteps } from './order-steps.tsx';
import { Replace } from './replace.tsx';
import { Revoke } from './revoke.tsx';

const LIVE_MS = 1_000;

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text size="sm" component="div" className="foreign">
      {children}
    </Text>
  </div>
);

/** What went wrong, what to do about it, when it is tried next, and what the authority said itself. */
const Trouble = ({ certificate }: { certificate: CertificateInUse }) => {
  const { issue, problem, next_attempt_at, renew_after } = certificate;
  const { t } = useTranslation('traffic');
  if (issue === null && problem === null) return null;
  return (
    <Alert color={problem ? 'red' : 'yellow'} icon={<IconAlertTriangle />} title={t('certificates.issue')} role="alert">
      {issue !== null && (
        <Text size="sm" className="foreign">
          {issue}
        </Text>
      )}
      {/* After one that went well comes the next renewal, which mends nothing of this. */}
      {next_attempt_at !== null && next_attempt_at !== renew_after && (
        <Text size="sm" mt={4}>
          {t('certificates.nextTry')}: <Moment at={next_attempt_at} />
        </Text>
      )}
      {problem && (
        <>
          <Text size="xs" fw={600} mt="xs">
            {t('certificates.problem')}
          </Text>
          <Text size="sm" className="foreign">
            {problem.detail}
          </Text>
          {problem.subproblems.map(({ name, detail }) => (
            <Text key={name + detail} size="sm" className="foreign">
              {name}: {detail}
            </Text>
          ))}
          <Text size="xs" ff="monospace" className="foreign">
            {problem.type}
          </Text>
        </>
      )}
    </Alert>
  );
};

const Facts = ({ certificate }: { certificate: CertificateInUse }) => {
  const { t } = useTranslation('traffic');
  const { source, domains, provider, expires_at, renew_after, last_attempt_at, created_at } = certificate;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <Fact label={t('certificates.names')}>{domains.split(',').join(', ')}</Fact>
      <Fact label={t('certificates.issuer')}>{source?.account ?? t(`certificates.from.${provider}`)}</Fact>
      <Fact label={t('certificates.expires')}>
        <Moment at={expires_at} />
      </Fact>
      <Fact label={t('certificates.renewal')}>
        {source === null ? t('certificates.never') : <Moment at={renew_after} />}
      </Fact>
      {source && <Fact label={t('certificates.keyType')}>{t(`certificates.keyTypes.${source.key_type}`)}</Fact>}
      {source?.challenge && (
        <Fact label={t('certificates.challenge')}>{source.dns_provider ?? t('certificates.challenges.http-01')}</Fact>
      )}
      {last_attempt_at !== null && (
        <Fact label={t('certificates.lastTry')}>
          <Moment at={last_attempt_at} />
        </Fact>
      )}
      <Fact label={t('certificates.created')}>
        <Moment at={created_at} />
      </Fact>
    </SimpleGrid>
  );
};

interface DetailProps {
  certificate: CertificateInUse;
  etag: string | undefined;
  onClose: () => void;
}

const Detail = ({ certificate, etag, onClose }: DetailProps) => {
  const { t } = useTranslation(['traffic', 'common']);
  const { isAdmin, user } = useWho();
  const { mutateAsync, isPending } = useChange();
  const { uuid, name, steps, used_by, used_by_total, source, expires_at } = certificate;
  const isRunning = isUnderWay(certificate);
  const renew = () =>
    mutateAsync({ method: 'POST', path: `/certificates/${uuid}/renew` }).then(
      () => notifyDone(t('certificates.renewing')),
      notifyFailed,
    );
  const remove = async () => {
    await mutateAsync({ method: 'DELETE', path: `/certificates/${uuid}` });
    notifyDone(t('certificates.removed', { name }));
    onClose();
  };
  return (
    <Stack gap="md">
      <Group gap="xs">
        <CertificateBadge certificate={certificate} uses={used_by_total} />
      </Group>
      <Trouble certificate={certificate} />
      {steps.length > 0 && (isRunning || steps.some(({ status }) => status !== 'done')) && (
        <div aria-live="polite">
          <Title order={2} mb="xs">
            {t('certificates.steps')}
          </Title>
          <OrderSteps steps={steps} />
        </div>
      )}
      <Facts certificate={certificate} />
      {used_by_total > 0 && (
        <div>
          <Text size="sm" fw={500}>
            {t('certificates.usedBy', { count: used_by_total })}
          </Text>
          <List size="sm">
            {used_by.map((host) => (
              <List.Item key={host.uuid}>
                <Anchor component={Link} to={`/hosts/${host.uuid}`} size="sm" className="foreign">
                  {host.domain}
                </Anchor>
              </List.Item>
            ))}
          </List>
        </div>
      )}
      <Group gap="xs">
        {isAdmin && source && (
          <Button
            leftSection={<IconRefresh size={16} />}
            loading={isPending}
            disabled={isRunning}
            onClick={() => void renew()}
          >
            {certificate.status === 'valid' ? t('certificates.renew') : t('certificates.retry')}
          </Button>
        )}
        {expires_at !== null && (
          <>
            <Button
              component="a"
              variant="default"
              href={urlOf(`/certificates/${uuid}/download`)}
              download
              leftSection={<IconDownload size={16} />}
            >
              {t('certificates.download')}
            </Button>
            {isAdmin && user && <KeyDownload uuid={uuid} name={name} />}
            {isAdmin && source && <Revoke certificate={certificate} />}
          </>
        )}
      </Group>
      {isAdmin && (
        <>
          <Replace certificate={certificate} etag={etag} />
          <DeleteButton title={t('certificates.remove', { name })} onDelete={remove}>
            {t('certificates.removeAbout')}
          </DeleteButton>
        </>
      )}
    </Stack>
  );
};

/** One certificate: how it is, how its order goes on, and what can be done with it. */
export const CertificateDetail = () => {
  const { uuid } = useParams();
  const navigate = useNavigate();
  const [isLive, setLive] = useState(true);
  const { data, error } = useAnswer<CertificateInUse>(`/certificates/${uuid}`, {
    everyMs: isLive ? LIVE_MS : 10 * LIVE_MS,
  });
  useEffect(() => {
    if (data) setLive(isUnderWay(data.data));
  }, [data]);
  const close = () => void navigate('/certificates');
  if (error) return <Problem error={error} />;
  if (!data) return null;
  return (
    <Side title={data.data.name} onClose={close}>
      <Detail key={uuid} certificate={data.data} etag={data.etag} onClose={close} />
    </Side>
  );
};
