import { useDebouncedValue } from '@mantine/hooks';
import type { RulesetCheck, RulesetDraft } from '@sallyport/contract';
import { useAsked } from '../../../../api/query.ts';

/** With the Core Rule Set a check takes the server seconds, so it waits until nothing was typed for so long. */
const TYPING_MS = 700;

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
  return {
    data: isAsked ? data : undefined,
    error: isAsked ? error : null,
    isBehind: isOn && content.trim() !== '' && (isFetching || typed !== content || named !== called),
  };
};
export type Check = ReturnType<typeof useCheck>;
