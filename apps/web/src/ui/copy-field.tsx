import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconCheck, IconCopy } from './icons.ts';

interface CopyFieldProps {
  label: string;
  description?: string;
  value: string;
}

/** A text to be taken elsewhere. Where the browser does not let it be copied, it is selected for the keyboard. */
export const CopyField = ({ label, description, value }: CopyFieldProps) => {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState('');
  const isCopied = copied === value;
  const copy = async () => {
    input.current?.select();
    try {
      await navigator.clipboard.writeText(value);
      setCopied(value);
    } catch {
      input.current?.focus();
    }
  };
  return (
    <TextInput
      ref={input}
      label={label}
      description={description}
      value={value}
      readOnly
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onFocus={({ currentTarget }) => currentTarget.select()}
      rightSection={
        <Tooltip label={isCopied ? t('copied') : t('copy')}>
          <ActionIcon
            variant="subtle"
            color={isCopied ? 'verdigris' : 'gray'}
            aria-label={t('copyOf', { what: label })}
            onClick={() => void copy()}
          >
            {isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      }
    />
  );
};
