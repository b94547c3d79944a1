import { dataPlaneFiles } from './layout.ts';
import type { BindAddress, ConfigSettings } from './settings.ts';

const endpoint = ({ address, port }: BindAddress): string =>
  // v6only, because the IPv4 address has a line of its own and the kernel's default differs between systems.
  address.includes(':') ? `[${address}]:${port} v6only` : `${address}:${port}`;

/** The `bind` lines. The certificate list may change at run time; its first entry answers for names without one. */
export const listeners = (settings: ConfigSettings): string =>
  [
    ...settings.http.map((bind) => `  bind ${endpoint(bind)}\n`),
    ...settings.https.map(
      (bind) => `  bind ${endpoint(bind)} ssl crt-list ${dataPlaneFiles.crtList} alpn h2,http/1.1\n`,
    ),
  ].join('');
