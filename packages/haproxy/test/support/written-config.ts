import { expect } from 'vitest';
import { renderConfig } from '../../src/config/render-config.ts';
import { type ConfigSettings, defaultSettings } from '../../src/config/settings.ts';

/** Ordinary settings, but for `parts`. */
export const settings = (parts: Partial<ConfigSettings> = {}): ConfigSettings => ({
  ...defaultSettings,
  http: [{ address: '127.0.0.1', port: 80 }],
  https: [
    { address: '127.0.0.1', port: 443 },
    { address: '::1', port: 443 },
  ],
  adminSocket: '/run/proxy/admin.sock',
  ...parts,
});

/** Everything that can be told and limited; no host is judged. */
export const guardless = {
  rateLimit: { windowSec: 60 },
  apiSocket: '/run/proxy/api.sock',
  eventSocket: '/run/proxy/log.sock',
  trafficSocket: '/run/proxy/traffic.sock',
} as const satisfies Partial<ConfigSettings>;

/** Whether a version, as `2.6`, is this one or a later one. */
export const isAtLeast = (version: string, least: string): boolean => Number(version) >= Number(least);

/** The lines that a HAProxy of this version reads, without comments. */
export const readBy = (version: string, parts: Partial<ConfigSettings> = {}): string[] => {
  const taken: boolean[] = [];
  const lines = [];
  for (const line of renderConfig(settings(parts), 'here')
    .split('\n')
    .map((text) => text.trim())) {
    const [, not, least = ''] = /^\.if (!?)version_atleast\((.+)\)$/.exec(line) ?? [];
    if (not !== undefined) taken.push(isAtLeast(version, least) === (not === ''));
    else if (line === '.else') taken.push(!taken.pop());
    else if (line === '.endif') expect(taken.pop()).toBeDefined();
    else if (line !== '' && !line.startsWith('#') && taken.every(Boolean)) lines.push(line);
  }
  expect(taken).toEqual([]);
  return lines;
};

const isHeading = (line: string): boolean =>
  /^(?:global|defaults|(?:frontend|backend|listen|ring|peers) \S+)$/.test(line);

/** The lines of a section. */
export const section = (lines: readonly string[], heading: string): string[] => {
  expect(lines.filter((line) => line === heading)).toHaveLength(1);
  const rest = lines.slice(lines.indexOf(heading) + 1);
  const end = rest.findIndex(isHeading);
  return end < 0 ? rest : rest.slice(0, end);
};

/** On both sides of each version that anything is written for. */
export const versions = ['2.6', '2.8', '3.0', '3.1'];

/** Fails unless lines that begin so come in this order; each counts from where it comes first. */
export const expectOrder = (lines: readonly string[], begins: readonly string[]): void => {
  const places = begins.map((begin) => lines.findIndex((line) => line.startsWith(begin)));
  expect(begins.filter((_, index) => places[index] === -1)).toEqual([]);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
};
