import { describe, expect, test } from 'vitest';
import { compileCrs3 } from '../../../../test/support/waf/crs.ts';
import { given } from '../../test/support/given.ts';
import { compile, type Limits, type Verdict, type WafRequest } from '../index.ts';

const judge = (text: string, request: WafRequest, limits?: Limits): Verdict => {
  const { ruleSet, diagnostics } = compile([{ path: 'x', text: `SecRuleEngine On\nSecRequestBodyAccess On\n${text}` }]);
  expect(diagnostics).toEqual([]);
  return ruleSet!.inspect(request, limits);
};
const form = (body: string): WafRequest =>
  given.request({ method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body });

/** So many bytes of Base64 like those of a picture, the same each time. */
const picture = (bytes: number): string => {
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return state >>> 16;
  };
  return Buffer.from(Uint8Array.from({ length: (bytes / 4) * 3 }, next)).toString('base64url');
};

describe('the Core Rule Set in block mode, with limits as they are', () => {
  const ruleSet = compileCrs3(1);
  const part = 'Content-Disposition: form-data; name="photo"; filename="me.jpg"\r\nContent-Type: image/jpeg';
  const upload = picture(6_000_000);

  test.each([
    ['in JSON', 'application/json', JSON.stringify({ name: 'me.jpg', image: upload })],
    ['in a form', 'application/x-www-form-urlencoded', `name=me.jpg&image=${upload}`],
    ['as a file', 'multipart/form-data; boundary=xyzzy', `--xyzzy\r\n${part}\r\n\r\n${upload}\r\n--xyzzy--\r\n`],
  ])('lets a picture of 6 MB pass %s', (_, type, body) => {
    const headers = {
      Host: 'a.example',
      'User-Agent': 'Mozilla/5.0',
      Accept: '*/*',
      'Content-Type': type,
      'Content-Length': String(body.length),
    };
    const verdict = ruleSet!.inspect(given.request({ method: 'POST', headers, body }), { mode: 'block' });
    expect(verdict).toMatchObject({ action: 'pass', limitsHit: [] });
  });
});

describe('the work budget', () => {
  /** Nothing comes on top for the size of the body. */
  const few = { workUnitsPerBodyByte: 0 } as const;
  const text = `SecRule ARGS "@rx (?:a|b|ab)*c" "id:1,phase:2,pass,log"
SecRule MSC_PCRE_LIMITS_EXCEEDED "@eq 1" "id:2,phase:5,pass,log"`;
  const heavy = form(`a=${'ab'.repeat(5_000)}`);

  test('refuses what it does not suffice for, names no rule, and tells phase 5', () => {
    const verdict = judge(text, heavy, { ...few, workUnits: 5_000 });
    expect(verdict).toMatchObject({
      action: 'block',
      status: 403,
      ruleId: null,
      limitsHit: ['work'],
      workUnits: 5_000,
    });
    expect(verdict.matches.map(({ id }) => id)).toEqual([2]);
  });

  test('lets it pass when the operator chose so', () => {
    expect(judge(text, heavy, { ...few, workUnits: 5_000, whenWorkSpent: 'pass' })).toMatchObject({
      action: 'pass',
      limitsHit: ['work'],
    });
  });

  test('only reports in detection mode', () => {
    expect(judge(text, heavy, { ...few, workUnits: 5_000, mode: 'detect' })).toMatchObject({
      action: 'pass',
      wouldBe: 'block',
    });
  });

  test('that ends within a value leaves nothing behind: the same attack does not pass afterwards', () => {
    const { ruleSet } = compile([
      { path: 'x', text: 'SecRuleEngine On\nSecRule ARGS "@rx (?:a|b|ab)*c" "id:1,phase:1,deny,log"' },
    ]);
    const attack = given.request({ query: `a=${'ab'.repeat(200)}c` });
    for (const workUnits of [200, 400, 600, 800])
      ruleSet!.inspect(attack, { ...few, workUnits, whenWorkSpent: 'pass' });
    expect(ruleSet!.inspect(attack)).toMatchObject({ action: 'block', ruleId: 1 });
  });

  test('is not spent by a request of usual size', () => {
    const verdict = judge(text, heavy);
    expect(verdict).toMatchObject({ action: 'pass', limitsHit: [], matches: [] });
    expect(verdict.workUnits).toBeGreaterThan(10_000);
  });

  test('is spent by each way through a value, also by the one that looks for phrases', () => {
    const verdict = judge('SecRule ARGS "@pm needle thread" "id:1,phase:2,pass"', form(`a=${'x'.repeat(10_000)}`));
    expect(verdict.workUnits).toBeGreaterThanOrEqual(20_000);
  });

  test('grows with the body, so that an upload is not refused for its size', () => {
    const limits = { workUnits: 1_000, workUnitsPerBodyByte: 60 };
    expect(judge(text, heavy, limits)).toMatchObject({ action: 'pass', limitsHit: [] });
    const many = Array.from(
      { length: 80 },
      (_, id) => `SecRule ARGS "@rx ^[ab]{${id + 2},}$" "id:${id + 10},phase:2,pass"`,
    );
    expect(judge(many.join('\n'), heavy, limits)).toMatchObject({ action: 'block', limitsHit: ['work'] });
  });

  test('a negated operator does not match for want of work', () => {
    expect(judge('SecRule ARGS "!@rx b" "id:1,phase:2,deny"', heavy, { ...few, workUnits: 200 })).toMatchObject({
      ruleId: null,
      limitsHit: ['work'],
    });
  });
});

describe('the size of a body', () => {
  const watch =
    'SecRule INBOUND_DATA_ERROR "@eq 1" "id:1,phase:2,pass,log"\nSecRule ARGS:z "@rx ." "id:2,phase:2,pass,log"';
  const body = form(`a=${'x'.repeat(200)}&z=1`);

  test('over the limit is refused with 413', () => {
    const verdict = judge(`SecRequestBodyNoFilesLimit 100\n${watch}`, body);
    expect(verdict).toMatchObject({ action: 'block', status: 413, ruleId: null, limitsHit: ['request_body'] });
  });

  test('over the limit is inspected in part when the rules say so', () => {
    const verdict = judge(`SecRequestBodyLimit 100\nSecRequestBodyLimitAction ProcessPartial\n${watch}`, body);
    expect(verdict).toMatchObject({ action: 'pass', limitsHit: ['request_body'] });
    expect(verdict.matches.map(({ id }) => id)).toEqual([1]);
  });

  test('that the caller cut is told by INBOUND_DATA_ERROR', () => {
    expect(judge(watch, { ...body, bodyTruncated: true }).matches.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('is a mistake where the caller never hands over as much', () => {
    const compiled = (limit: string) =>
      compile([{ path: 'x', text: limit }], { maxBodyBytes: 5_000 }).diagnostics.map(({ message }) => message);
    expect(compiled('SecRequestBodyLimit 5000\nSecRequestBodyNoFilesLimit 10')).toEqual([]);
    for (const name of ['SecRequestBodyLimit', 'SecRequestBodyNoFilesLimit'])
      expect(compiled(`${name} 5001`)).toEqual([expect.stringContaining('at most 5000 bytes')]);
    expect(compiled('SecRequestBodyLimit 0')).toEqual([expect.stringContaining('a whole number')]);
  });

  test('may be lowered by the caller', () => {
    expect(judge(watch, body, { maxBodyBytes: 50 })).toMatchObject({ action: 'block', status: 413 });
  });
});

describe('the number of arguments', () => {
  const text = 'SecArgumentsLimit 3\nSecRule REQBODY_ERROR "@eq 1" "id:1,phase:2,deny,status:400"';

  test('over the limit sets REQBODY_ERROR', () => {
    expect(judge(text, form('a=1&b=2&c=3'))).toMatchObject({ action: 'pass', limitsHit: [] });
    expect(judge(text, form('a=1&b=2&c=3&d=4'))).toMatchObject({
      action: 'block',
      status: 400,
      limitsHit: ['arguments'],
    });
  });
});

test('no more than 1,000 matches are kept', () => {
  const text = Array.from({ length: 1_100 }, (_, at) => `SecAction "id:${at + 1},phase:1,pass,log"`).join('\n');
  const verdict = judge(text, given.request({}));
  expect(verdict.matches).toHaveLength(1_000);
  expect(verdict.limitsHit).toEqual(['matches']);
});
