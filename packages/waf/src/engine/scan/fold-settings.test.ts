import { describe, expect, test } from 'vitest';
import { given } from '../../../test/support/given.ts';
import { compileProgram } from '../compile.ts';
import { createRuleSet } from '../create-rule-set.ts';

const sets = 'SecAction "id:1,phase:1,nolog,pass,setvar:tx.level=lax"';
const denies = 'SecRule TX:level "@streq strict" "id:2,phase:1,deny"';

/** What a host sets itself is not there when rules are folded at load. */
describe('a host that sets a variable itself', () => {
  test.each([
    ['compared with a constant', `${sets}\n${denies}`],
    ['compared in phase 2', `${sets}\n${denies.replace('phase:1', 'phase:2')}`],
    ['that no rule sets', denies],
    [
      'that decides about a gate',
      `${sets}\nSecRule TX:level "@streq lax" "id:3,phase:1,nolog,pass,skipAfter:END"\nSecAction "id:4,phase:1,deny"\nSecMarker END`,
    ],
    [
      'that decides about another one',
      `${sets}\nSecRule TX:level "@streq strict" "id:3,phase:1,nolog,pass,setvar:tx.other=1"\nSecRule TX:other "@streq 1" "id:4,phase:2,deny"`,
    ],
    [
      'that another one is a copy of',
      `${sets}\nSecAction "id:3,phase:1,nolog,pass,setvar:tx.other=%{tx.level}"\nSecRule TX:other "@streq strict" "id:4,phase:2,deny"`,
    ],
    [
      'that rules give a default',
      `SecRule &TX:level "@eq 0" "id:1,phase:1,nolog,pass,setvar:tx.level=lax"\nSecRule ARGS:a "@streq %{tx.level}" "id:2,phase:2,deny"`,
    ],
  ])('%s', (_what, text) => {
    const { program, diagnostics } = compileProgram([{ path: 'x', text: `SecRuleEngine On\n${text}` }], {});
    expect(diagnostics).toEqual([]);
    const verdicts = (settings?: Record<string, string>) =>
      [createRuleSet(program!, {}, { isNaive: true }), createRuleSet(program!, {})].map(
        (ruleSet) => ruleSet.inspect({ ...given.request({ query: 'a=strict' }), ...(settings && { settings }) }).action,
      );
    expect(verdicts({ level: 'strict' })).toEqual(['block', 'block']);
    expect(verdicts()).toEqual(['pass', 'pass']);
    expect(verdicts({ level: 'lax' })).toEqual(['pass', 'pass']);
  });
});
