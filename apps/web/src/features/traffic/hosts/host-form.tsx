import { Accordion, Alert, Button, Select, TextInput } from '@mantine/core';
import type { AccessList, AcmeAccount, ListedCertificate, ProxyHost } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate, useParams, useSearchParams } from 'react-router';
import { useStored } from '../../../api/object.ts';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { FormObject } from '../../../ui/form/form-object.tsx';
import { leaveAgreed } from '../../../ui/form/unsaved.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { IconExternalLink } from '../../../ui/icons.ts';
import { notifyAttention, notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { firstNameOf, siteOf } from './addresses.ts';
import { certificateChoice, certificateChoices, certificateFields } from './certificate-choice.ts';
import { ContainerChoice } from './container-choice.tsx';
import { BodyLimit, FieldGroup, FieldWarnings, HostFormProvider, HostSwitch, HostText } from './host-fields.tsx';
import { HostHistory } from './host-history.tsx';
import { GROUPS, type GroupName, NEW_HOST, type TypedHost, typedOf } from './host-values.ts';
import { OriginFields, RemoteServerChoice } from './origin-fields.tsx';
import { TOUCHED_BY_HOSTS, useHostChanges } from './use-host-changes.tsx';
import { keepingWayIn } from './way-in.ts';

const MOST_CHOICES = 100;

interface EditorProps {
  /** What is there; undefined for a new one. */
  host: ProxyHost | undefined;
  etag: string | undefined;
  /** What a new one begins with. */
  initial: TypedHost;
}

/** Groups that hold something the reader has to see. */
const groupsWith = (fields: readonly string[]): GroupName[] =>
  (Object.keys(GROUPS) as GroupName[]).filter((name) => GROUPS[name].some((field) => fields.includes(field)));

const Editor = ({ host, etag, initial }: EditorProps) => {
  const { t } = useTranslation(['traffic', 'common']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const { search } = useLocation();
  const { save } = useStored<ProxyHost>({ list: '/proxy-hosts', id: host?.uuid, touches: TOUCHED_BY_HOSTS });
  const { remove } = useHostChanges();
  const certificates = useRead<ListedCertificate[]>('/certificates').data;
  const lists = useRead<AccessList[]>('/access-lists').data;
  const warnings = host?.warnings ?? [];
  const [open, setOpen] = useState<string[]>(() =>
    // Where the suite is off, that holds for every host: its sign is enough.
    groupsWith(warnings.map(({ field }) => field).filter((field) => field !== 'waf_enabled')),
  );

  const object = useObjectForm<TypedHost>(
    host?.uuid ?? 'new',
    initial,
    async (typed, version) => {
      const body = { ...typed, forward_port: typed.forward_port === '' ? undefined : Number(typed.forward_port) };
      const { data } = await keepingWayIn(
        (query) => save(body, version, query),
        (reason, seconds) => t('hosts.lockOut', { reason, seconds }),
      );
      const name = firstNameOf(data);
      if (data.issue === null) notifyDone(t(data.applied ? 'hosts.savedLive' : 'hosts.saved', { name }));
      else notifyAttention(t('hosts.savedNotServed', { name, issue: data.issue }));
    },
    etag,
  );
  const { form } = object;
  const toClose = new URLSearchParams(search);
  toClose.delete('like');
  const close = () => void navigate({ pathname: '/hosts', search: toClose.toString() });
  const wrong = groupsWith(Object.keys(form.errors));
  const certificate = certificateChoice(form.getValues());
  const site = host && siteOf(host);
  const listId = form.getValues().access_list_id;

  return (
    <HostFormProvider value={{ form, warnings, isAdmin }}>
      <FormDrawer
        title={host ? firstNameOf(host) : t('hosts.add')}
        isOpen
        onClose={close}
        onSaved={close}
        object={object}
        more={
          host && (
            <>
              <Button
                variant="subtle"
                color="red"
                mr="auto"
                onClick={() => void leaveAgreed(() => remove([host]).then(close, notifyFailed))}
              >
                {t('common:delete')}
              </Button>
              {site !== undefined && (
                <Button
                  variant="default"
                  component="a"
                  href={site}
                  target="_blank"
                  rel="noreferrer"
                  rightSection={<IconExternalLink size={15} aria-hidden />}
                >
                  {t('hosts.open')}
                </Button>
              )}
            </>
          )
        }
      >
        {host?.issue && (
          <Alert color="red" title={t('hosts.why.unserved')} className="foreign">
            {host.issue}
          </Alert>
        )}
        <TextInput
          label={t('hosts.fields.domain.label')}
          description={t('hosts.fields.domain.about')}
          placeholder="app.example.com"
          required
          data-autofocus
          {...form.getInputProps('domain')}
        />
        <OriginFields />
        <ContainerChoice />
        <div>
          <Select
            label={t('hosts.certificate')}
            searchable
            allowDeselect={false}
            limit={MOST_CHOICES}
            data={certificateChoices(certificates, t)}
            value={certificate}
            error={form.errors.certificate_id ?? form.errors.auto_certificate}
            onChange={(choice) => choice !== null && form.setValues(certificateFields(choice))}
          />
          <FieldWarnings of={['certificate_id', 'auto_certificate']} />
        </div>
        <Accordion multiple variant="separated" value={[...new Set([...open, ...wrong])]} onChange={setOpen}>
          <FieldGroup name="tls">
            {GROUPS.tls.map((field) => (
              <HostSwitch key={field} field={field} />
            ))}
          </FieldGroup>
          <FieldGroup name="protection">
            <div>
              <Select
                label={t('hosts.accessList')}
                description={t('hosts.accessListAbout')}
                placeholder={t('hosts.accessListNone')}
                clearable
                searchable
                limit={MOST_CHOICES}
                disabled={!isAdmin}
                data={(lists ?? []).map(({ id, name }) => ({ value: String(id), label: name }))}
                value={listId === null ? null : String(listId)}
                error={form.errors.access_list_id}
                onChange={(value) => form.setFieldValue('access_list_id', value === null ? null : Number(value))}
              />
              <FieldWarnings of={['access_list_id']} />
            </div>
            <HostSwitch field="block_exploits" />
          </FieldGroup>
          <FieldGroup name="firewall">
            <HostSwitch field="waf_enabled" />
            <HostSwitch field="waf_inspect_responses" />
            <HostText field="waf_allowed_methods" />
            <HostText field="waf_allowed_content_types" />
            <BodyLimit />
          </FieldGroup>
          <FieldGroup name="headers">
            <HostSwitch field="websocket_support" />
            <HostSwitch field="enable_standard_headers" />
          </FieldGroup>
          <FieldGroup name="advanced">
            <HostText field="name" />
            <HostSwitch field="enabled" />
            <RemoteServerChoice />
            <HostSwitch field="forward_verify_tls" />
            <HostSwitch field="forward_http2" />
            <HostSwitch field="forward_reserved" />
          </FieldGroup>
          {host && <HostHistory uuid={host.uuid} isOpen={open.includes('history')} onReverted={close} />}
        </Accordion>
      </FormDrawer>
    </HostFormProvider>
  );
};

/** A host of which nothing is known yet. */
const NewEditor = () => {
  const accounts = useRead<AcmeAccount[]>('/acme/accounts');
  if (accounts.isPending) return null;
  // Whoever has an account with an authority wants certificates from it.
  const auto_certificate = (accounts.data?.length ?? 0) > 0;
  return <Editor host={undefined} etag={undefined} initial={{ ...NEW_HOST, auto_certificate }} />;
};

/** Makes or changes a proxy host: what the address of the screen names. `?like=` names one to begin with. */
export const HostForm = () => {
  const { uuid } = useParams();
  const [query] = useSearchParams();
  const like = query.get('like') ?? undefined;
  const named = uuid ?? like;
  return (
    <FormObject<ProxyHost> path={named && `/proxy-hosts/${named}`}>
      {(host, etag) => {
        if (!host) return <NewEditor />;
        if (uuid !== undefined) return <Editor host={host} etag={etag} initial={typedOf(host)} />;
        return <Editor host={undefined} etag={undefined} initial={{ ...typedOf(host), name: '', domain: '' }} />;
      }}
    </FormObject>
  );
};
