import { describe, expect, test } from 'vitest';
import { AcmeEnded, AcmeProblem, AcmeProtocolError } from '../../src/index.ts';
import { failure } from '../failure.ts';
import { CA, pendingAuthorization, scriptedCa, TOKEN } from '../scripted-ca.ts';

describe('authorizations', () => {
  const wait = (body: object) =>
    failure(scriptedCa({ '/authorization': { body } }).client().waitForAuthorization(`${CA}/authorization`));

  test.for(['expired', 'deactivated', 'revoked', 'invalid'])('that are %s', async (status) => {
    const error = await wait({ ...pendingAuthorization, status });
    expect(error).toBeInstanceOf(AcmeEnded);
    expect(error).toMatchObject({ state: status, message: `the authorization for a.example is ${status}` });
  });

  test('that are invalid are a verdict in the CA’s own words; what went wrong before one expired is none', async () => {
    const error = { type: 'urn:ietf:params:acme:error:connection', detail: 'port 80 is closed' };
    const [challenge] = pendingAuthorization.challenges;
    const challenges = [challenge, { ...challenge, status: 'invalid', error }];
    const verdict = await wait({ ...pendingAuthorization, status: 'invalid', challenges });
    expect(verdict).toBeInstanceOf(AcmeProblem);
    expect(verdict).toMatchObject({ ...error, isVerdict: true });
    expect(await wait({ ...pendingAuthorization, status: 'expired', challenges })).toBeInstanceOf(AcmeEnded);
  });

  test.for(['../../etc/passwd', `${TOKEN}\n`, 'short', 'a'.repeat(300), 'DGyRejmCefe7v4NfDGDKfA=', 7, ''])(
    'a token that must not get into a path: %j',
    async (token) => {
      const challenges = [{ ...pendingAuthorization.challenges[0], token }];
      expect(await wait({ ...pendingAuthorization, challenges })).toBeInstanceOf(AcmeProtocolError);
      const client = scriptedCa().client();
      expect(await failure(client.keyAuthorization(String(token)))).toBeInstanceOf(AcmeProtocolError);
      expect(await failure(client.dnsRecordValue(String(token)))).toBeInstanceOf(AcmeProtocolError);
    },
  );

  test.for(['*.a.example', 'a.example/../b', '', 'a_b.example', '<script>'])('for a name like %j', async (value) => {
    expect(await wait({ ...pendingAuthorization, identifier: { type: 'dns', value } })).toBeInstanceOf(
      AcmeProtocolError,
    );
  });

  test('a name without a dot, which a CA of one’s own may know', async () => {
    const ca = scriptedCa({
      '/authorization': {
        body: { ...pendingAuthorization, identifier: { type: 'dns', value: 'NAS' }, wildcard: true },
      },
    });
    expect(await ca.client().authorization(`${CA}/authorization`)).toMatchObject({ name: 'nas', wildcard: true });
  });

  test('challenges without a token are for others', async () => {
    const challenges = [
      { type: 'dns-persist-01', url: `${CA}/c`, status: 'pending' },
      ...pendingAuthorization.challenges,
    ];
    const ca = scriptedCa({ '/authorization': { body: { ...pendingAuthorization, challenges } } });
    const authorization = await ca.client().authorization(`${CA}/authorization`);
    expect(authorization.challenges.map(({ type }) => type)).toEqual(['http-01']);
  });
});
