import { createHash, X509Certificate } from 'node:crypto';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import type { SiteAnswers } from '../../../../net/ask-site.ts';
import { toSide } from './side.ts';

const body = Buffer.from('a page');
const answers = (headers: object, more: Partial<SiteAnswers> = {}): SiteAnswers => ({
  head: { status: 204, headers: {}, body: undefined },
  get: { status: 200, headers: headers as SiteAnswers['get']['headers'], body },
  ...{ greeting: undefined, ...more },
});
const sideOf = (headers: object, more?: Partial<SiteAnswers>, name = 'a.test') =>
  toSide(answers(headers, more), { scheme: 'https', name, ports: [8443] });

test('an answer is compared without what differs by spelling alone, and what is long is cut', () => {
  const headers = {
    ...{ 'content-type': 'Text/HTML ; Charset=UTF-8;', 'content-encoding': 'gzip' },
    ...{ 'strict-transport-security': 'max-age=1;includeSubDomains', 'x-sallyport-reference': 'ref' },
    'set-cookie': ['b=secret; Path=/', 'a=1', 'b=2'],
  };
  expect(sideOf(headers)).toEqual({
    ...{ status: 200, headStatus: 204, location: '', encoding: 'gzip', reference: 'ref', cookies: 'a, b' },
    ...{ contentType: 'text/html; charset=utf-8', hsts: 'max-age=1; includesubdomains' },
    digest: createHash('sha256').update(body).digest('hex'),
    ...{ certificate: undefined, offersHttp2: false },
  });
  expect(sideOf({ 'content-type': 'x'.repeat(300) }).contentType).toBe(`${'x'.repeat(200)}…`);
  const large = answers({});
  expect(
    toSide({ ...large, get: { ...large.get, body: undefined } }, { scheme: 'http', name: 'a', ports: [] }).digest,
  ).toBe(undefined);
});

test('where a site sends its visitors is told without the port of the proxy that was asked', () => {
  const located = (location: string, name?: string) => sideOf({ location }, undefined, name).location;
  expect(located('https://a.test:8443/x')).toBe('https://a.test/x');
  expect(located('/x')).toBe('https://a.test/x');
  expect(located('https://a.test:9443/x')).toBe('https://a.test:9443/x');
  expect(located('https://b.test:8443/x')).toBe('https://b.test:8443/x');
  expect(located('https://[2001:db8::1]:8443/x', '2001:db8::1')).toBe('https://[2001:db8::1]/x');
  expect(located('http://[')).toBe('http://[');
});

test('a certificate is told by whom it is for, and whether it is the one for names without any', async () => {
  const of = async (names: [string, ...string[]], name?: string) => {
    const { certificate } = await createSelfSignedCertificate({ names, validFrom: new Date(0), validDays: 1 });
    const greeting = { certificate: new X509Certificate(certificate), offersHttp2: true };
    return sideOf({}, { greeting } as Partial<SiteAnswers>, name);
  };
  const side = await of(['a.test', 'b.test']);
  expect(side).toMatchObject({
    offersHttp2: true,
    certificate: { names: 'a.test, b.test', until: '1970-01-02', isForName: true, isDefault: false },
  });
  expect(side.certificate?.fingerprint).toMatch(/^(?:[0-9A-F]{2}:){31}/);
  expect((await of(['b.test'])).certificate?.isForName).toBe(false);
  expect((await of(['127.0.0.1'], '127.0.0.1')).certificate?.isForName).toBe(true);
  expect((await of(['sallyport.invalid'])).certificate).toMatchObject({ isDefault: true, isForName: false });
});
