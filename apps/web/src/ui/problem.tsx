import { Alert, Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/api-error.ts';
import { IconAlertTriangle } from './icons.ts';
import { isMissingPart } from './missing-part.ts';

interface ProblemProps {
  error: Error | null | undefined;
  /** Lets the reader try again. */
  onRetry?: () => void;
}

/** What went wrong, in the server's own words, with what to do about it. Nothing when nothing did. */
export const Problem = ({ error, onRetry }: ProblemProps) => {
  const { t } = useTranslation();
  if (!error) return null;
  if (isMissingPart(error)) {
    return (
      <Alert role="alert" color="red" variant="light" icon={<IconAlertTriangle />} title={t('missingPart')}>
        <Text size="sm">{t('missingPartHint')}</Text>
        <Button size="xs" variant="default" mt="xs" onClick={() => window.location.reload()}>
          {t('loadAnew')}
        </Button>
      </Alert>
    );
  }
  const isSilent = error instanceof ApiError && error.status === 0;
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<IconAlertTriangle />}
      title={isSilent ? t('noAnswer') : undefined}
    >
      <Text size="sm" className="foreign">
        {isSilent ? t('noAnswerHint') : error.message}
      </Text>
      {error instanceof ApiError && error.details !== undefined && (
        <Text size="sm" mt={4} className="foreign">
          {error.details}
        </Text>
      )}
      {onRetry && (
        <Button size="xs" variant="default" mt="xs" onClick={onRetry}>
          {t('tryAgain')}
        </Button>
      )}
    </Alert>
  );
};
