import { ActionIcon, Box, Group, Input, ScrollArea, TextInput } from '@mantine/core';
import type { AccessList } from '@sallyport/contract';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ClipboardEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { IconX } from '../../../ui/icons.ts';

export type Rule = Required<AccessList['rules'][number]>;

const ROW_HEIGHT = 40;
const MAX_HEIGHT = 360;

/** Networks out of pasted text: one a line or between commas, with a note behind the first blank or `#`. */
export const readRules = (text: string): Rule[] =>
  text
    .split(/[\n,;]+/)
    .map((line) => /^\s*([^\s#]*)[\s#]*(.*?)\s*$/.exec(line))
    .flatMap((found) => (found?.[1] ? [{ cidr: found[1], description: found[2] ?? '' }] : []));

/** Rules without those that nothing was typed into. */
export const filled = (rules: readonly Rule[]): Rule[] => rules.filter(({ cidr }) => cidr.trim() !== '');

interface RulesEditorProps {
  rules: readonly Rule[];
  onChange: (rules: Rule[]) => void;
  hint: string;
  /** What the server says is wrong, of the rules that are filled in: `rules[3].cidr …`. */
  error: string | undefined;
  isReadOnly: boolean;
}

/** A refusal with the place of the entry that it is about, among the filled ones. */
const placeOf = (error: string | undefined): { index: number; message: string } | undefined => {
  const found = /^rules\[(\d+)\](?:\.\w+)? (.*)$/s.exec(error ?? '');
  return found ? { index: Number(found[1]), message: found[2] ?? '' } : undefined;
};

/** Networks with notes, any number: an empty line is always there for one more, and pasted lists become lines. */
export const RulesEditor = ({ rules, onChange, hint, error, isReadOnly }: RulesEditorProps) => {
  const { t } = useTranslation('protection');
  const frame = useRef<HTMLDivElement>(null);
  const lines = isReadOnly ? rules : [...rules, { cidr: '', description: '' }];
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  const wrong = placeOf(error);
  // The server counts what it was sent.
  let sent = -1;
  const wrongLine = lines.findIndex(({ cidr }) => {
    if (cidr.trim() !== '') sent += 1;
    return wrong !== undefined && sent === wrong.index;
  });

  const change = (index: number, part: Partial<Rule>) => {
    const next = [...rules];
    next[index] = { cidr: '', description: '', ...rules[index], ...part };
    onChange(next);
  };
  const paste = (index: number, event: ClipboardEvent) => {
    const pasted = readRules(event.clipboardData.getData('text'));
    if (pasted.length < 2) return;
    event.preventDefault();
    const isBlank = rules[index] === undefined || rules[index].cidr === '';
    onChange([...rules.slice(0, isBlank ? index : index + 1), ...pasted, ...rules.slice(index + 1)]);
  };

  return (
    <Input.Wrapper
      label={t('accessLists.networks')}
      description={hint}
      error={error !== undefined && wrongLine === -1 ? error : undefined}
      labelElement="div"
    >
      <ScrollArea.Autosize mah={MAX_HEIGHT} viewportRef={frame} mt={6} type="auto">
        <Box pos="relative" h={virtual.getTotalSize()}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index];
            if (!line) return null;
            const number = index + 1;
            return (
              <Group
                key={index}
                ref={virtual.measureElement}
                data-index={index}
                gap={6}
                wrap="nowrap"
                align="flex-start"
                pos="absolute"
                left={0}
                right={0}
                pb={6}
                pr={4}
                style={{ transform: `translateY(${start}px)` }}
              >
                <TextInput
                  size="sm"
                  flex={3}
                  aria-label={t('accessLists.network', { number })}
                  placeholder={index === rules.length ? '192.0.2.0/24' : undefined}
                  value={line.cidr}
                  error={index === wrongLine ? wrong?.message : undefined}
                  maxLength={64}
                  spellCheck={false}
                  onChange={({ currentTarget: { value } }) => change(index, { cidr: value })}
                  onPaste={(event) => paste(index, event)}
                />
                <TextInput
                  size="sm"
                  flex={2}
                  aria-label={t('accessLists.noteOn', { number })}
                  placeholder={index === rules.length ? t('accessLists.note') : undefined}
                  value={line.description}
                  maxLength={1_024}
                  onChange={({ currentTarget: { value } }) => change(index, { description: value })}
                />
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={t('accessLists.removeNetwork', { number })}
                  style={{ visibility: index < rules.length && !isReadOnly ? undefined : 'hidden' }}
                  onClick={() => onChange(rules.filter((_, at) => at !== index))}
                >
                  <IconX size={16} />
                </ActionIcon>
              </Group>
            );
          })}
        </Box>
      </ScrollArea.Autosize>
    </Input.Wrapper>
  );
};
