import { useDebouncedValue } from '@mantine/hooks';
import type { RulesetCheck, RulesetDraft } from '@sallyport/contract';
import { useMemo } from 'react';
import { useAsked } from '../../../../api/query.ts';

/** With the Core Rule Set a check takes the server seconds, so it waits until nothing was typed for so long. */
const TYPING_MS = 700;

/** What is wrong with rules; `isWarning`: what loads nevertheless. */
export type Mistake = RulesetCheck['errors'][number] & { isWarning: boolean };

/** All that the server found, in the order of the lines. */
const mistakesOf = ({ errors, warnings }: RulesetCheck): Mistake[] =>
  [
    ...errors.map((one) => ({ ...one, isWarning: false })),
    ...warnings.map((one) => ({ ...one, isWarning: true })),
  ].sort((one, other) => one.line - other.line || one.column - other.column);

const NONE: readonly Mistake[] = [];

type Draft = Required<RulesetDraft>;

/** What the server says about rules while they are typed. `isBehind`: what it said is about what stood there before. */
export const useCheck = ({ name, mode, content }: Draft, isOn: boolean) => {
  const [typed] = useDebouncedValue(content, TYPING_MS);
  const called = name.trim();
  const [named] = useDebouncedValue(called, TYPING_MS);
  const isAsked = isOn && typed.trim() !== '';
  const { data, error, isFetching } = useAsked<RulesetCheck>(
    '/security/rulesets/check',
    { mode, content: typed, ...(named === '' ? {} : { name: named }) },
    isAsked,
  );
  const found = isAsked ? data : undefined;
  const mistakes = useMemo(() => (found ? mistakesOf(found) : NONE), [found]);
  return {
    data: found,
    mistakes,
    error: isAsked ? error : null,
    isBehind: isOn && content.trim() !== '' && (isFetching || typed !== content || named !== called),
  };
};
export type Check = ReturnType<typeof useCheck>;
