import { expect, test } from 'vitest';
import type { CaaRecord } from '../../../../net/name-servers.ts';
import { checkCaa, whyForbidden } from './caa.ts';

const asker = { identities: ['ca.example'], accountUrl: 'https://ca.example/acct/1', challenge: 'http-01' };
const record = (tag: string, value: string, isCritical = false): CaaRecord => ({ tag, value, isCritical });
const issue = (value: string) => record('issue', value);
const wild = (value: string) => record('issuewild', value);

test.each<[string, CaaRecord[], { plain: boolean; wildcard: boolean }]>([
  ['records of other kinds only', [record('iodef', 'mailto:a@example.com')], { plain: true, wildcard: true }],
  ['this authority', [issue('ca.example')], { plain: true, wildcard: true }],
  ['this authority in other letters, with parameters', [issue(' CA.Example ; a=b')], { plain: true, wildcard: true }],
  ['this one beside another', [issue('other.example'), issue('ca.example')], { plain: true, wildcard: true }],
  ['another one', [issue('other.example')], { plain: false, wildcard: false }],
  ['one whose name only contains it', [issue('not-ca.example')], { plain: false, wildcard: false }],
  ['nobody', [issue(';')], { plain: false, wildcard: false }],
  ['another one for wildcards', [issue('ca.example'), wild('other.example')], { plain: true, wildcard: false }],
  ['this one for wildcards only', [issue(';'), wild('ca.example')], { plain: false, wildcard: true }],
  ['wildcards of nobody, and nothing else', [wild(';')], { plain: true, wildcard: false }],
  ['an unknown critical one', [issue('ca.example'), record('tbs', 'x', true)], { plain: false, wildcard: false }],
  ['an unknown one that is not critical', [issue('ca.example'), record('tbs', 'x')], { plain: true, wildcard: true }],
  ['this way of proof', [issue('ca.example; validationmethods=dns-01,http-01')], { plain: true, wildcard: true }],
  ['another way of proof', [issue('ca.example; validationmethods=dns-01')], { plain: false, wildcard: false }],
  ['this account', [issue('ca.example; accounturi=https://ca.example/acct/1')], { plain: true, wildcard: true }],
  ['another account', [issue('ca.example; accounturi=https://ca.example/acct/2')], { plain: false, wildcard: false }],
])('CAA records that name %s', (_, records, { plain, wildcard }) => {
  expect(whyForbidden(records, false, asker) === undefined).toBe(plain);
  expect(whyForbidden(records, true, asker) === undefined).toBe(wildcard);
});

test('an account that is not registered yet is not held against it', () => {
  const records = [issue('ca.example; accounturi=https://ca.example/acct/2')];
  expect(whyForbidden(records, false, { ...asker, accountUrl: null })).toBeUndefined();
});

test('the fix is the record that is missing, where the records are', async () => {
  const find = async () => ({ at: 'example.com', records: [issue('other.example')] });
  expect(await checkCaa('*.www.example.com', asker, find)).toMatchObject({
    ok: false,
    blocks: true,
    message: 'The CAA records at example.com do not permit ca.example: only other.example may issue.',
    fix: 'Add a record: example.com CAA 0 issuewild "ca.example"',
  });
});

test('the name of a wildcard is looked up without it, and a look-up that fails is told and blocks nothing', async () => {
  const asked: string[] = [];
  const find = async (name: string) => {
    asked.push(name);
    throw new Error(`${name} can't be looked up: the name servers answer that they failed (SERVFAIL)`);
  };
  const check = await checkCaa('*.example.com', asker, find);
  expect(asked).toEqual(['example.com']);
  expect(check).toMatchObject({ ok: false, blocks: false, message: expect.stringContaining('SERVFAIL') });
});

test('what an authority does not say of itself, and who else may issue, is told', async () => {
  const at = (records: CaaRecord[]) => async () => ({ at: 'example.com', records });
  const told = async (records: CaaRecord[], identities = asker.identities) =>
    (await checkCaa('www.example.com', { ...asker, identities }, at(records))).message;
  const nobody = await told([issue(';')]);
  expect(nobody).toBe('The CAA records at example.com do not permit ca.example: nobody may issue.');
  expect(await told([issue('a.test'), issue(';')], [])).toBe(
    'There are CAA records at example.com; the authority does not say which it looks for.',
  );
  // Whichever it looks for; but it may be one that does not look.
  const whoever = { ...asker, identities: [] };
  for (const [records, why] of [
    [[issue(';')], 'nobody may issue'],
    [[{ tag: 'tbs', value: 'x', isCritical: true }], 'a critical record'],
  ] as const) {
    expect(await checkCaa('www.example.com', whoever, at([...records]))).toMatchObject({
      ok: false,
      blocks: false,
      message: expect.stringContaining(`The CAA records at example.com permit no authority: ${why}`),
    });
  }
  expect(await told([issue('a.test; x=y'), issue('a.test'), issue('B.test')])).toContain(
    'only a.test, b.test may issue',
  );
  expect(await told([issue('ca.example')])).toBe('The CAA records at example.com permit ca.example.');
  expect((await checkCaa('a.test', asker, async () => undefined)).message).toBe(
    'No CAA record restricts who may issue.',
  );
});

test.each(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc', 'contactemail', 'contactphone'])(
  'a critical %s is known, and passed over where it is about something else',
  (tag) => {
    const records = [issue('ca.example'), { tag, value: 'ca.example', isCritical: true }];
    expect(whyForbidden(records, false, asker)).toBeUndefined();
  },
);
