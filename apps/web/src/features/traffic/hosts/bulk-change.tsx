import { Button, Group, Modal, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import type { AccessList, ListedCertificate, ProxyHostPatch } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { certificateChoices, certificateFields } from './certificate-choice.ts';
import { PROTECTION, type SwitchField } from './host-values.ts';

/** Switches that many hosts are told alike, in this order. */
const SWITCHES = [
  'ssl_forced',
  'hsts_enabled',
  'http2_support',
  'websocket_support',
  'block_exploits',
  'waf_enabled',
  'waf_inspect_responses',
] as const satisfies readonly SwitchField[];

const MOST_CHOICES = 100;

interface BulkChangeProps {
  count: number;
  isOpen: boolean;
  onClose: () => void;
  onApply: (patch: ProxyHostPatch) => void;
}

/** Asks what shall be the same for all hosts that are chosen; the rest of them stays as it is. */
export const BulkChange = ({ count, isOpen, onClose, onApply }: BulkChangeProps) => {
  const { t } = useTranslation(['traffic', 'common']);
  const { isAdmin } = useWho();
  const [patch, setPatch] = useState<ProxyHostPatch>({});
  const [certificate, setCertificate] = useState<string | null>(null);
  const certificates = useRead<ListedCertificate[]>('/certificates', { isOn: isOpen });
  const lists = useRead<AccessList[]>('/access-lists', { isOn: isOpen });
  const close = () => {
    setPatch({});
    setCertificate(null);
    onClose();
  };
  const set = (field: keyof ProxyHostPatch, value: unknown) =>
    setPatch(({ [field]: _before, ...others }) => (value === undefined ? others : { ...others, [field]: value }));
  const all = { ...patch, ...(certificate === null ? {} : certificateFields(certificate)) };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      size="lg"
      title={t('hosts.bulkTitle', { count, shown: formatNumber(count) })}
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('hosts.bulkAbout')}
        </Text>
        {SWITCHES.filter((field) => isAdmin || !PROTECTION.has(field)).map((field) => (
          <Group key={field} justify="space-between" gap="xs">
            <Text size="sm" id={`bulk-${field}`}>
              {t(`hosts.fields.${field}.label`)}
            </Text>
            <SegmentedControl
              size="xs"
              aria-labelledby={`bulk-${field}`}
              data={[
                { value: 'keep', label: t('hosts.keep') },
                { value: 'on', label: t('hosts.on') },
                { value: 'off', label: t('hosts.off') },
              ]}
              value={patch[field] === undefined ? 'keep' : patch[field] ? 'on' : 'off'}
              onChange={(value) => set(field, value === 'keep' ? undefined : value === 'on')}
            />
          </Group>
        ))}
        <Select
          label={t('hosts.certificate')}
          placeholder={t('hosts.keep')}
          clearable
          searchable
          limit={MOST_CHOICES}
          data={certificateChoices(certificates.data, t)}
          value={certificate}
          onChange={setCertificate}
        />
        {isAdmin && (
          <Select
            label={t('hosts.accessList')}
            placeholder={t('hosts.keep')}
            clearable
            searchable
            limit={MOST_CHOICES}
            data={[
              { value: 'none', label: t('hosts.accessListNone') },
              ...(lists.data ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
            ]}
            value={patch.access_list_id === undefined ? null : String(patch.access_list_id ?? 'none')}
            onChange={(value) =>
              set('access_list_id', value === null ? undefined : value === 'none' ? null : Number(value))
            }
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('common:cancel')}
          </Button>
          <Button
            disabled={Object.keys(all).length === 0}
            onClick={() => {
              onApply(all);
              setPatch({});
              setCertificate(null);
            }}
          >
            {t('hosts.apply')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
