import { AcmeProblem, AcmeProtocolError, AcmeUnreachable } from '@sallyport/acme';
import type { NewAcmeAccount } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../../../../../../test/support/certificates.ts';
import { DIRECTORIES } from './directories.ts';
import { normaliseAccount, parseRoots } from './normalise.ts';
import { refusalOfRegistration } from './refusals.ts';

const HMAC_KEY = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W';
const { certificate } = makeCertificate(['ca.test']);
const { certificate: other } = makeCertificate(['other.test']);

const normalised = (more: Partial<NewAcmeAccount> = {}) =>
  normaliseAccount({ name: 'Us', directory_url: 'letsencrypt', terms_agreed: true, ...more } as NewAcmeAccount);

test('an account is written the one way that it is stored in', () => {
  expect(normalised()).toEqual({
    ...{ name: 'Us', directoryUrl: DIRECTORIES.letsencrypt, email: '', isAgreed: true },
    ...{ eab: undefined, caCertificate: null },
  });
  const written = {
    ...{ name: ' Us ', directory_url: ' ZeroSSL ', email: ' ', terms_agreed: false },
    ...{ eab_kid: ' kid ', eab_hmac_key: ` ${HMAC_KEY} `, ca_certificate: `\n${certificate}\n\n${other}` },
  };
  expect(normalised(written)).toEqual({
    ...{ name: 'Us', directoryUrl: DIRECTORIES.zerossl, email: '', isAgreed: false },
    ...{ eab: { kid: 'kid', hmacKey: HMAC_KEY }, caCertificate: parseRoots(certificate) + parseRoots(other) },
  });
  expect(normalised({ directory_url: 'HTTPS://CA.example:443/dir' }).directoryUrl).toBe('https://ca.example/dir');
  expect(normalised({ email: 'Me@Example.com', ca_certificate: '' })).toMatchObject({
    email: 'me@example.com',
    caCertificate: null,
  });
});

test.each([
  [{ name: ' ' }, /^name is required/],
  ...['http://ca.example/', 'constructor', 'https://', 'ca.example'].map(
    (directory_url) => [{ directory_url }, /^directory_url must be an https URL, or one of letsencrypt, /] as const,
  ),
  ...['https://me@ca.example/', 'https://:pass@ca.example/'].map(
    (directory_url) => [{ directory_url }, /^directory_url must not hold a user or password/] as const,
  ),
  [{ directory_url: 'https://ca.example/dir#here' }, /^directory_url must not have a fragment/],
  [{ email: 'nobody' }, /^email /],
  [{ eab_kid: 'kid' }, /^eab_hmac_key is required/],
  [{ eab_hmac_key: HMAC_KEY }, /^eab_kid is required/],
  [{ eab_kid: 'kid', eab_hmac_key: '%%' }, /^eab_hmac_key is not base64url/],
  ...['hello', `${certificate}and more`, `its key, too\n${certificate}`].map(
    (ca_certificate) => [{ ca_certificate }, /^ca_certificate must be certificates in PEM and nothing else/] as const,
  ),
  [
    { ca_certificate: `${certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----` },
    /^ca_certificate: certificate 2 can not be parsed/,
  ],
] as [Partial<NewAcmeAccount>, RegExp][])('of %o is said what is wrong', (more, message) => {
  expect(() => normalised(more)).toThrow(message);
});

test('shorthands are the directories that their authorities name', () => {
  expect(DIRECTORIES).toEqual({
    letsencrypt: 'https://acme-v02.api.letsencrypt.org/directory',
    'letsencrypt-staging': 'https://acme-staging-v02.api.letsencrypt.org/directory',
    zerossl: 'https://acme.zerossl.com/v2/DV90',
    google: 'https://dv.acme-v02.api.pki.goog/directory',
    buypass: 'https://api.buypass.com/acme/directory',
  });
});

test('what an authority says against an account names the field that it is about', () => {
  const said = (kind: string, detail: string, hasBinding = false) => {
    const problem = { type: `urn:ietf:params:acme:error:${kind}`, detail, status: 400, subproblems: [] };
    return refusalOfRegistration(new AcmeProblem(problem, 'https://ca.example/account'), hasBinding)?.message;
  };
  expect(said('invalidContact', 'no such host')).toBe('email: the authority refuses the account: no such host');
  expect(said('unsupportedContact', 'mailto only')).toMatch(/^email: /);
  expect(said('userActionRequired', 'new terms')).toMatch(/^terms_agreed: /);
  expect(said('externalAccountRequired', 'who are you')).toMatch(/^eab_kid: /);
  expect(said('rateLimited', '')).toMatch(/^directory_url: .*urn:ietf:params:acme:error:rateLimited$/);
  for (const kind of ['unauthorized', 'malformed', 'externalAccountRequired']) {
    expect(said(kind, 'unknown key identifier', true)).toMatch(/^eab_kid: /);
    expect(said(kind, 'the signature does not fit', true)).toMatch(/^eab_hmac_key: /);
  }
  expect(said('malformed', 'the signature does not fit')).toMatch(/^directory_url: /);
  expect(said('rateLimited', 'bad hmac weather', true)).toMatch(/^directory_url: /);

  const url = 'https://ca.example/dir';
  for (const error of [new AcmeUnreachable(url, 'no route'), new AcmeProtocolError(url, 'no JSON')]) {
    expect(refusalOfRegistration(error, false)?.message).toMatch(/^directory_url: the authority could not be spoken/);
  }
  expect(refusalOfRegistration(new DOMException('late', 'TimeoutError'), false)?.message).toMatch(
    /not answer in time$/,
  );
  expect(refusalOfRegistration(new Error('our own fault'), true)).toBeUndefined();
});
