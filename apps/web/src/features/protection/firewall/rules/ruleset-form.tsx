import { Anchor, Button, FileButton, Group, Input, Loader, Stack, Text, TextInput, Title } from '@mantine/core';
import type { Ruleset } from '@sallyport/contract';
import { lazy, Suspense, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { ApiError } from '../../../../api/api-error.ts';
import { useChange, useRead } from '../../../../api/query.ts';
import { useWho } from '../../../../app/who.ts';
import { Confirm } from '../../../../ui/confirm.tsx';
import { FormObject } from '../../../../ui/form/form-object.tsx';
import { PageForm } from '../../../../ui/form/page-form.tsx';
import { useObjectForm } from '../../../../ui/form/use-object-form.ts';
import { IconFileImport } from '../../../../ui/icons.ts';
import { notifyDone } from '../../../../ui/notify.ts';
import { batchOf, offerUndo } from '../../../../ui/undo.tsx';
import { CONFIRM_SECONDS, useConfig, useStatus } from '../../security/stored.ts';
import { Choices } from '../choices.tsx';
import { FirewallPage } from '../firewall-page.tsx';
import { isActing } from '../firewall-state.tsx';
import { CheckResult, useWords } from './check-result.tsx';
import type { Editor as CodeEditor } from './rule-editor.tsx';
import { useCheck } from './use-check.ts';

const RuleEditor = lazy(() => import('./rule-editor.tsx'));

const TOUCHED = ['/security'] as const;

/** Refuses a way into the application that nobody needs from outside. */
const EXAMPLE = `# Nobody needs the administration from outside.
SecRule REQUEST_FILENAME "@beginsWith /admin" \\
    "id:100001,phase:1,deny,status:403,\\
    msg:'Administration from outside',\\
    severity:CRITICAL"
`;

interface EditorProps {
  set: Ruleset | undefined;
  etag: string | undefined;
}

const Editor = ({ set, etag }: EditorProps) => {
  const { t } = useTranslation(['firewall', 'common']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const editor = useRef<CodeEditor>(null);
  const resetFile = useRef<() => void>(null);
  const hintId = useId();
  const status = useStatus();
  const config = useConfig();
  const known = useRead<{ rulesets: Ruleset[] }>('/security/rulesets');
  const { mutateAsync } = useChange<{ ruleset: Ruleset }>(TOUCHED);
  const source = config.data && (config.data.data.config?.waf_rules_source ?? '');
  /** Whether rules of this name judge as soon as they are saved. What is not known may be so. */
  const mayJudge = (name: string): boolean =>
    (source === undefined || source === name) && (status.data === undefined || isActing(status.data));
  const close = () => void navigate('/firewall/rules');

  const initial = {
    name: set?.name ?? '',
    mode: set?.mode ?? 'owasp',
    source_url: set?.source_url ?? '',
    content: set?.content ?? '',
  };
  const object = useObjectForm(
    set?.uuid ?? 'new',
    initial,
    async (body, ifMatch) => {
      const name = body.name.trim();
      if (!set) {
        // The server takes it for a change of the one that is called so.
        const { data } = await known.refetch({ throwOnError: true });
        if (data?.data.rulesets.some((other) => other.name === name))
          throw new ApiError(409, { error: t('nameTaken') });
      }
      await mutateAsync({
        method: 'POST',
        path: '/security/rulesets',
        body,
        ifMatch,
        query: { confirm_within: mayJudge(name) ? CONFIRM_SECONDS : undefined },
      });
    },
    etag,
  );
  const { form } = object;
  const values = form.getValues();
  const name = values.name.trim();
  const isChosen = set !== undefined && source === set.name;
  const check = useCheck(values, isAdmin);
  const wordsOf = useWords();

  const remove = async ({ uuid, name }: Ruleset) => {
    const answer = await mutateAsync({ method: 'DELETE', path: `/security/rulesets/${uuid}` });
    offerUndo(t('removed', { name }), [batchOf(answer)], TOUCHED);
    close();
  };
  const open = async (file: File | null) => {
    // The same one is opened again after it was changed elsewhere.
    resetFile.current?.();
    if (file) form.setFieldValue('content', await file.text());
  };

  return (
    <PageForm
      object={{ ...object, takeTheirs: close }}
      isReadOnly={!isAdmin}
      onSaved={() => {
        notifyDone(mayJudge(name) ? t('savedInForce') : t('savedSet', { name }));
        close();
      }}
      more={
        set &&
        !isChosen && (
          <Confirm
            title={t('remove', { name: set.name })}
            action={t('common:delete')}
            onConfirm={() => remove(set)}
            trigger={(ask) => (
              <Button variant="subtle" color="red" ml="auto" onClick={ask}>
                {t('common:delete')}
              </Button>
            )}
          >
            {t('removeAbout')}
          </Confirm>
        )
      }
    >
      {isChosen && isAdmin && status.data && isActing(status.data) && <Text size="sm">{t('selectedHint')}</Text>}
      {!set && (
        <TextInput
          label={t('name')}
          description={t('nameHint')}
          required
          maw={480}
          maxLength={255}
          {...form.getInputProps('name')}
        />
      )}
      <Choices
        label={t('modeOf')}
        choices={(['owasp', 'custom'] as const).map((mode) => ({
          value: mode,
          label: t(`setModes.${mode}`),
          about: t(`setModes.${mode}About`),
        }))}
        value={values.mode}
        error={form.errors.mode}
        onChange={(mode) => form.setFieldValue('mode', mode)}
      />
      <TextInput
        label={t('sourceUrl')}
        description={t('sourceUrlHint')}
        maw={640}
        spellCheck={false}
        {...form.getInputProps('source_url')}
      />
      <Stack gap={4}>
        <Group justify="space-between" align="flex-end" gap="xs">
          <div>
            <Input.Label component="div">{t('content')}</Input.Label>
            {isAdmin && (
              <Text size="xs" c="dimmed" id={hintId}>
                {t('contentHint')}
              </Text>
            )}
          </div>
          {isAdmin && (
            <Group gap="xs">
              {values.content === '' && (
                <Button size="xs" variant="default" onClick={() => form.setFieldValue('content', EXAMPLE)}>
                  {t('example')}
                </Button>
              )}
              <FileButton resetRef={resetFile} accept=".conf,.txt,text/plain" onChange={(file) => void open(file)}>
                {({ onClick }) => (
                  <Button
                    size="xs"
                    variant="default"
                    leftSection={<IconFileImport size={14} aria-hidden />}
                    onClick={onClick}
                  >
                    {t('openFile')}
                  </Button>
                )}
              </FileButton>
            </Group>
          )}
        </Group>
        <Suspense fallback={<Loader size="sm" aria-label={t('common:loading')} />}>
          <RuleEditor
            ref={editor}
            label={t('content')}
            describedBy={hintId}
            value={values.content}
            onChange={(content) => form.setFieldValue('content', content)}
            mistakes={check.mistakes}
            wordsOf={wordsOf}
            isReadOnly={!isAdmin}
          />
        </Suspense>
        {form.errors.content && (
          <Input.Error role="alert" className="foreign">
            {form.errors.content}
          </Input.Error>
        )}
        {isAdmin && <CheckResult check={check} onOpen={(mistake) => editor.current?.goTo(mistake)} />}
      </Stack>
    </PageForm>
  );
};

/** Makes or changes a rule set: what the address of the screen names. */
export const RulesetForm = () => {
  const { t } = useTranslation('firewall');
  const { id } = useParams();
  return (
    <FirewallPage about={t('rulesAbout')}>
      <Anchor component={Link} to="/firewall/rules" size="sm">
        {t('back')}
      </Anchor>
      <FormObject<{ ruleset: Ruleset }> path={id === undefined ? undefined : `/security/rulesets/${id}`}>
        {(answer, etag) => (
          <>
            <Title order={2} className="foreign">
              {answer?.ruleset.name ?? t('add')}
            </Title>
            <Editor set={answer?.ruleset} etag={etag} />
          </>
        )}
      </FormObject>
    </FirewallPage>
  );
};
