import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { createSelfSignedCertificate } from '../src/files/self-signed-certificate.ts';
import { createDataPlane, type DesiredCertificate, type DesiredHost, dataPlaneFiles } from '../src/index.ts';

const origin = { port: 80 };
const certificateFor = async (id: number, names: [string, ...string[]]): Promise<DesiredCertificate> => {
  const { certificate, key } = await createSelfSignedCertificate({ names, validFrom: new Date(), validDays: 30 });
  return { id, pem: certificate + key, names, notAfter: new X509Certificate(certificate).validToDate.getTime() };
};

const certificates = await Promise.all([
  certificateFor(1, ['one.test', '*.wild.test']),
  certificateFor(2, ['two.test']),
]);
const ordinary = [
  givenHost({ id: 1, names: ['plain.test', 'also.plain.test'], origin }),
  givenHost({ id: 2, names: ['one.test'], origin }),
  givenHost({ id: 3, names: ['off.test'], origin }, { enabled: false }),
  givenHost({ id: 4, names: ['a.wild.test'], origin }),
];
const special = [
  givenHost({ id: 5, names: ['chosen.test'], origin, certificate: 2 }),
  givenHost({ id: 6, names: ['lost.test'], origin, certificate: 7 }),
  givenHost({ id: 7, names: ['one-only.test'], origin }, { http2_support: false }),
];
const unservable = [
  givenHost({ id: 8, names: ['new.test', 'plain.test'], origin }),
  givenHost({ id: 9, names: ['plain.test'], origin }),
  givenHost({ id: 10, names: ['bad name'], origin }),
  givenHost({ id: 11, names: ['address.test'], origin: { ...origin, address: 'not-an-address' } }),
  givenHost({ id: 12, names: [], origin }),
  givenHost({ id: 13, names: ['twice.test', 'twice.test'], origin }),
];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sp-render-'));
});
afterAll(() => rm(directory, { recursive: true }));

const files = [dataPlaneFiles.hostsMap, dataPlaneFiles.overlayMap, dataPlaneFiles.crtList];
const driverIn = (name: string) => {
  const home = join(directory, name);
  const driver = createDataPlane({ directory: home, adminSocket: join(home, 'nobody.sock') });
  return { driver, read: () => Promise.all(files.map((file) => readFile(join(home, file), 'utf8'))) };
};

const rendered = async (name: string, hosts: readonly DesiredHost[]) => {
  async function* inPortions() {
    for (let from = 0; from < hosts.length; from += 2) yield hosts.slice(from, from + 2);
  }
  const { driver, read } = driverIn(name);
  await driver.render({ hosts: inPortions(), certificates });
  await driver.stop();
  return read();
};

test.each([
  ['ordinary', ordinary],
  ['special', [...special, ...ordinary]],
  ['unservable', [...ordinary, ...unservable, ...special]],
  ['wildcard', [...ordinary, givenHost({ id: 20, names: ['*.wild.test'], origin })]],
  [
    'other-wildcard',
    [...ordinary, givenHost({ id: 20, names: ['*.wild.test', '*.plain.test'], origin }, { http2_support: false })],
  ],
])('what is rendered for %s hosts is what comparing everything writes', async (name, hosts) => {
  const { driver, read } = driverIn(`${name}-reconciled`);
  await driver.reconcile({ hosts, certificates });
  await driver.stop();
  expect(await rendered(name, hosts)).toEqual(await read());
});

test('a base that is as it should be stays the file that it is', async () => {
  const base = join(directory, 'same', dataPlaneFiles.hostsMap);
  await rendered('same', ordinary);
  const { ino } = await stat(base);
  await rendered('same', ordinary);
  expect((await stat(base)).ino).toBe(ino);
  await rendered('same', special);
  expect((await stat(base)).ino).not.toBe(ino);
});

test('a fault of ours is no host that cannot be served', async () => {
  const broken = { ...givenHost({ id: 1, names: ['a.test'], origin }), origin: undefined };
  await expect(rendered('broken', [broken as unknown as DesiredHost])).rejects.toThrow(TypeError);
});

test('rendering again takes what was changed and leaves no change behind', async () => {
  const [before] = await rendered('again', ordinary);
  const [after, overlay] = await rendered('again', special);
  expect(before).toContain('\nplain.test ');
  expect(after).not.toContain('\nplain.test ');
  expect(after).toContain('\nchosen.test ');
  expect(overlay?.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
});
