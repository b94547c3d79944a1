import { Skeleton } from '@mantine/core';
import type { ImportOutcome, ImportStatus } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { queryClient, useRead } from '../../../api/query.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { SourcesProvider } from './excerpt.tsx';
import { PreviewStep } from './preview-step.tsx';
import { ResultStep } from './result-step.tsx';
import type { SourceFile } from './source-file.ts';
import { SourceStep } from './source-step.tsx';

/** Source, preview, result, proof. A session that is under way is taken up; a finished one is known by the address. */
export const Import = () => {
  const { t } = useTranslation('system');
  const [params, setParams] = useSearchParams();
  const finished = params.get('session');
  const status = useRead<ImportStatus>('/import/status');
  const [files, setFiles] = useState<readonly SourceFile[]>([]);
  const [outcome, setOutcome] = useState<ImportOutcome>();
  const readAnew = () => queryClient.resetQueries({ queryKey: ['import'] });
  const begin = () => {
    setFiles([]);
    setOutcome(undefined);
    setParams({});
    void readAnew();
  };
  const session = status.data?.session;

  const step = () => {
    if (finished !== null) return <ResultStep uuid={finished} outcome={outcome} onAnother={begin} />;
    if (session) {
      return (
        <PreviewStep
          key={session.uuid}
          session={session}
          isTakenUp={files.length === 0}
          onCommitted={(done) => {
            setOutcome(done);
            setParams({ session: session.uuid });
          }}
          onCancelled={begin}
        />
      );
    }
    if (status.error) return <Problem error={status.error} onRetry={() => void status.refetch()} />;
    if (!status.data) return <Skeleton h={240} />;
    return (
      <SourceStep
        onRead={(read) => {
          setFiles(read);
          void readAnew();
        }}
      />
    );
  };
  return (
    <Page title={t('imports.title')} about={t('imports.about')}>
      <SourcesProvider value={files}>{step()}</SourcesProvider>
    </Page>
  );
};
