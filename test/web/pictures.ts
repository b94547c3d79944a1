/**
 * Takes a picture of every screen, in light and dark, on a desk and on a phone, over a product in use. To be looked at, one by one.
 * Run: npm run pictures [DIRECTORY] (default `.cache/pictures`). With `--keep` the few of README and docs are written anew as well, after three minutes of visits.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Look, startBrowser, type Window } from '../support/browser.ts';
import buildWeb from '../support/build-web.ts';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct } from '../support/product.ts';
import { until } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCREENS = [
  ...['/', '/hosts', '/hosts/new', '/servers', '/certificates', '/certificates/order', '/security', '/firewall'],
  ...['/firewall/rules', '/blocks', '/decisions', '/crowdsec', '/access-lists', '/logs', '/users', '/tokens', '/audit'],
  ...['/settings', '/security/notifications', '/backups', '/history', '/import', '/emergency', '/about', '/account'],
  '/guide',
];
const LOOKS: Readonly<Record<string, Look>> = {
  light: {},
  dark: { scheme: 'dark' },
  phone: { size: [360, 780] },
  'dark-phone': { size: [390, 844], scheme: 'dark' },
  german: { size: [1920, 1080], language: 'de' },
  'german-phone': { size: [360, 780], language: 'de' },
  wall: { size: [3840, 2160] },
};
/** What README and docs show: the name of a picture here, and there. */
const KEPT = {
  'light-whole': 'overview-light',
  'dark-whole': 'overview-dark',
  'light-block': 'block',
  'light-hosts': 'hosts',
} as const;
const HOSTS = ['photos', 'cloud', 'git', 'wiki', 'media', 'home', 'vault', 'shop', 'status', 'blog', 'mail', 'notes'];
const IDLE_MS = 6_000;
const VISIT_MS = 3 * 60_000;
const OWNER = { email: 'ada@example.com', password: 'correct horse battery' };
const ATTACK = `/search?q=${encodeURIComponent("' or 1=1 union select password from users --")}`;

const listen = async (): Promise<ReturnType<typeof createServer>> => {
  const origin = createServer((_request, response) => response.end('hello'));
  await new Promise<void>((resolve) => void origin.listen(0, '127.0.0.1', resolve));
  return origin;
};

/** Gives the product what a home has: hosts, a machine, a list, a certificate, an attack here and there. */
const furnish = async (call: ReturnType<typeof createApiCaller>['call'], http: number, port: number): Promise<void> => {
  for (const [index, name] of HOSTS.entries()) {
    const domain = `${name}.example.com`;
    const forward_host = name === 'notes' ? 'nowhere.invalid' : '127.0.0.1';
    // Some leave it to the firewall, so that there is a rule to show.
    const guards = { waf_enabled: index % 3 < 2, block_exploits: index % 3 === 2 };
    await call('POST', '/proxy-hosts', { domain, name, forward_host, forward_port: port, ...guards });
  }
  await call('POST', '/remote-servers', { name: 'nas', host: '127.0.0.1', port });
  const rules = [{ cidr: '192.0.2.0/24', description: 'the office' }];
  await call('POST', '/access-lists', { name: 'Office', type: 'allow', rules });
  await call('POST', '/certificates/order', { names: ['nas.lan'], provider: 'internal' });
  await call('POST', '/security/config', { waf_mode: 'block', admin_whitelist: '127.0.0.1' });
  await call('POST', '/settings', { key: 'security.waf.enabled', value: 'true' });
  await call('POST', '/security/enable');
  const ban = { action: 'block', details: 'asked for /.env on all hosts', ip: '198.51.100.9', duration: '4h' };
  await call('POST', '/security/decisions', ban);
  for (let index = 0; index < 120; index += 1) {
    const host = `${HOSTS[index % 7]}.example.com`;
    const path = index % 8 === 3 ? ATTACK : index % 11 === 5 ? '/.git/config' : '/';
    await ask({ port: http, host, path, from: `127.0.0.${2 + (index % 9)}` });
  }
  await call('POST', '/backups', {});
};

/** Visits the hosts for some minutes, so that a chart has something to draw. */
const visit = async (http: number): Promise<void> => {
  const end = performance.now() + VISIT_MS;
  for (let index = 0; performance.now() < end; index += 1) {
    const host = `${HOSTS[index % HOSTS.length]}.example.com`;
    const path = index % 13 === 7 ? '/.env' : '/';
    await ask({ port: http, host, path, from: `127.0.0.${2 + (index % 9)}` });
    await sleep(60 + 50 * Math.sin(index / 200));
  }
};

const take = async ({ page }: Window, path: string, file: string): Promise<void> => {
  await page.goto(path);
  // A screen that follows something asks again and again.
  await page.waitForLoadState('networkidle', { timeout: IDLE_MS }).catch(() => {});
  await page.screenshot({ path: file });
};

/** The overview of whoever has got through its checklist, as far down as it goes. */
const takeWhole = async ({ page }: Window, file: string): Promise<void> => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Hide' }).click();
  await page.waitForLoadState('networkidle', { timeout: IDLE_MS }).catch(() => {});
  await page.screenshot({ path: file, fullPage: true });
};

const [directory = join(ROOT, '.cache/pictures')] = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const isKept = process.argv.includes('--keep');
mkdirSync(directory, { recursive: true });
buildWeb();
const [api = 0, http = 0, https = 0, crowdsec = 0] = await freePorts(4);
const product = createProduct({ api, http, https }, undefined, { SALLYPORT_CROWDSEC_PORT: String(crowdsec) });
const origin = await listen();
const browser = await startBrowser();
try {
  await product.start();
  let token: string | undefined;
  const { call } = createApiCaller(
    () => product.api,
    () => token,
  );
  ({ token } = await call<{ token: string }>('POST', '/setup', OWNER));
  await furnish(call, http, (origin.address() as AddressInfo).port);
  if (isKept) await visit(http);
  const { reference } = await until('a request that the firewall refused', async () => {
    const list = await call<{ blocks: { reference: string }[] }>('GET', '/security/blocks?layer=waf&limit=1');
    return list.blocks[0];
  });
  for (const [name, look] of Object.entries(LOOKS)) {
    const window = await browser.open(new URL(product.api).origin, look);
    await window.page.request.post('/api/v1/auth/login', { data: OWNER });
    for (const path of SCREENS) {
      await take(window, path, join(directory, `${name}-${path.slice(1).replaceAll('/', '-') || 'overview'}.png`));
    }
    await take(window, `/blocks/${reference}`, join(directory, `${name}-block.png`));
    if (look.language !== 'de') await takeWhole(window, join(directory, `${name}-whole.png`));
    if (window.errors.length > 0) throw new Error(window.errors.join('\n'));
    await window.close();
  }
  for (const [from, to] of Object.entries(KEPT)) {
    if (!isKept) break;
    mkdirSync(join(ROOT, 'docs/pictures'), { recursive: true });
    copyFileSync(join(directory, `${from}.png`), join(ROOT, 'docs/pictures', `${to}.png`));
  }
} finally {
  await browser.stop();
  await product.remove();
  origin.close();
}
