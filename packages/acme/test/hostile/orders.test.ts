import { describe, expect, test } from 'vitest';
import { AcmeEnded, type AcmeProblem, AcmeProtocolError } from '../../src/index.ts';
import { failure } from '../failure.ts';
import { CA, DIRECTORY, payloadOf, pendingOrder, scriptedCa } from '../scripted-ca.ts';

const urn = (kind: string) => `urn:ietf:params:acme:error:${kind}`;

describe('orders', () => {
  const order = (body: object) => failure(scriptedCa({ '/order': { body } }).client().order(`${CA}/order`));

  test.for([
    ['an unknown status', { ...pendingOrder, status: 'done' }, 'no status that ACME knows: "done"'],
    ['no authorizations', { ...pendingOrder, authorizations: [] }, 'authorizations'],
    ['101 authorizations', { ...pendingOrder, authorizations: Array(101).fill(`${CA}/a`) }, 'authorizations'],
    ['no names', { ...pendingOrder, identifiers: [{}] }, 'without a name'],
    ['nothing', {}, 'no status'],
  ] as const)('%s', async ([, body, problem]) => {
    const error = await order(body);
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain(problem);
  });

  test('whose fields are there, and are nothing', async () => {
    const body = { ...pendingOrder, certificate: null, error: null, expires: null, notBefore: null };
    const read = await scriptedCa({ '/order': { body } }).client().order(`${CA}/order`);
    expect(read).toMatchObject({ status: 'pending', certificate: undefined, error: undefined, expires: undefined });
  });

  test('for other names than those asked for', async () => {
    const error = await failure(
      scriptedCa()
        .client()
        .newOrder({ names: ['b.example'] }),
    );
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain('other names');
  });

  test('that follow a certificate say so where the CA knows ARI, and are made anyway when it has a successor', async () => {
    const replaced = { status: 409, body: { type: urn('alreadyReplaced'), detail: 'replaced' } };
    const made = { status: 201, headers: { location: `${CA}/order` }, body: pendingOrder };
    const ca = scriptedCa({ '/orders': [replaced, made] });
    await ca.client().newOrder({ names: ['a.example'], replaces: 'aYhb.AQ', profile: 'shortlived' });
    const payloads = ca.asked.filter(({ url }) => url.endsWith('/orders')).map(payloadOf);
    const identifiers = [{ type: 'dns', value: 'a.example' }];
    expect(payloads).toEqual([
      { identifiers, profile: 'shortlived', replaces: 'aYhb.AQ' },
      { identifiers, profile: 'shortlived' },
    ]);
    const { renewalInfo: _, ...directory } = DIRECTORY;
    const older = scriptedCa({ '/dir': { body: directory } });
    await older.client().newOrder({ names: ['a.example'], replaces: 'aYhb.AQ' });
    expect(older.asked.filter(({ url }) => url.endsWith('/orders')).map(payloadOf)).toEqual([{ identifiers }]);
  });

  test('that expired or failed end the waiting, with the CA’s reason where there is one', async () => {
    const wait = (body: object) => failure(scriptedCa({ '/order': { body } }).client().waitForOrder(`${CA}/order`));
    expect(await wait({ ...pendingOrder, status: 'invalid' })).toBeInstanceOf(AcmeEnded);
    const error = { type: urn('caa'), detail: 'CAA forbids', status: 403 };
    const problem = (await wait({ ...pendingOrder, status: 'invalid', error })) as AcmeProblem;
    expect(problem.is('caa')).toBe(true);
    expect(problem).toMatchObject({ status: 403, url: `${CA}/order` });
  });
});
