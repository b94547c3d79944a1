import { join } from 'node:path';

/**
 * Where everything HAProxy reads lies below one directory, as paths relative to it: the static file sets
 * `default-path config`, so the same relative names identify maps and certificates in the runtime API.
 */
export const dataPlaneFiles = {
  config: 'haproxy.cfg',
  instance: 'instance',
  hostsMap: 'maps/hosts.map',
  overlayMap: 'maps/hosts-overlay.map',
  bansMap: 'maps/bans.map',
  whitelistMap: 'maps/whitelist.map',
  bypassMap: 'maps/rate-limit-bypass.map',
  limitsMap: 'maps/rate-limits.map',
  switchesMap: 'maps/judging.map',
  challengesMap: 'maps/acme-challenges.map',
  trustedProxies: 'rules/trusted-proxies.list',
  exploitPatterns: 'rules/exploits.regex',
  notablePatterns: 'rules/notable.regex',
  pageFragments: 'pages/fragments.map',
  crtList: 'tls/crt-list.txt',
  certificateDirectory: 'tls/certificates',
  defaultCertificate: 'tls/certificates/default.pem',
} as const;

/** Store name (and relative path) of one certificate. */
export const certificateFile = (id: number): string => `${dataPlaneFiles.certificateDirectory}/${id}.pem`;

/** The certificate that a store name stands for; undefined for the default one and for anything else. */
export const certificateId = (store: string): number | undefined => {
  const id = store.startsWith(`${dataPlaneFiles.certificateDirectory}/`) && /\/(\d+)\.pem$/.exec(store)?.[1];
  return id ? Number(id) : undefined;
};

/** Absolute path of a data-plane file. */
export const inDirectory = (directory: string, file: string): string => join(directory, file);
