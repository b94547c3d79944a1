import { expect, test } from 'vitest';
import { DIRECTORY, scriptedCa } from '../scripted-ca.ts';

test('what a directory tells of its CA', async () => {
  const meta = {
    termsOfService: 'https://terms.example/1.pdf',
    website: 'javascript:alert(1)',
    caaIdentities: ['CA.example', 7, 'ca\u0000.example'],
    externalAccountRequired: true,
    profiles: { classic: 'https://ca.example/profiles', shortlived: 'six days' },
  };
  const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
  const ca = scriptedCa({ '/dir': { headers, body: { ...DIRECTORY, meta } } });
  expect(await ca.client().directory()).toEqual({
    ...DIRECTORY,
    termsOfService: 'https://terms.example/1.pdf',
    website: undefined,
    caaIdentities: ['ca.example', 'ca .example'],
    externalAccountRequired: true,
    profiles: { classic: 'https://ca.example/profiles', shortlived: 'six days' },
  });
});
