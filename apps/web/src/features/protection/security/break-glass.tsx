import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import type { BreakGlassToken } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';

/** The token that switches the suite off from anywhere, shown once. */
export const BreakGlass = () => {
  const { t } = useTranslation(['protection', 'common']);
  const { mutate, data, isPending, error } = useChange<BreakGlassToken>([]);
  const token = data?.data.token;
  const command =
    token &&
    `curl -X POST ${window.location.origin}/api/v1/security/disable -H 'content-type: application/json' -d '{"break_glass_token":"${token}"}'`;
  return (
    <Panel title={t('security.breakGlass')} about={t('security.breakGlassAbout')}>
      <Problem error={error} />
      {token && (
        <Alert color="yellow" title={t('security.tokenShown')}>
          <Stack gap="xs">
            <Group gap="xs" align="flex-start">
              <Code block flex="1 1 14rem" className="foreign" style={{ whiteSpace: 'pre-wrap' }}>
                {token}
              </Code>
              <CopyButton value={token}>
                {({ copied, copy }) => (
                  <Button size="xs" variant="default" onClick={copy}>
                    {t(copied ? 'common:copied' : 'common:copy')}
                  </Button>
                )}
              </CopyButton>
            </Group>
            <Text size="sm">{t('security.tokenUse')}</Text>
            <Code block className="foreign" style={{ whiteSpace: 'pre-wrap' }}>
              {command}
            </Code>
          </Stack>
        </Alert>
      )}
      <Group>
        <Button
          variant="default"
          loading={isPending}
          onClick={() => mutate({ method: 'POST', path: '/security/breakglass/generate' })}
        >
          {t('security.makeToken')}
        </Button>
      </Group>
    </Panel>
  );
};
