import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownAnswers } from './error-pages.ts';
import { renderConfig } from './render-config.ts';
import { type ConfigSettings, defaultSettings, InvalidSetting } from './settings.ts';

const settings = (parts: Partial<ConfigSettings> = {}): ConfigSettings => ({
  ...defaultSettings,
  http: [{ address: '0.0.0.0', port: 80 }],
  https: [{ address: '::', port: 443 }],
  adminSocket: '/run/sallyport/admin.sock',
  ...parts,
});

describe('haproxy.cfg', () => {
  test.each<[string, Partial<ConfigSettings>]>([
    ['http', { http: [{ address: 'localhost', port: 80 }] }],
    ['http', { http: [{ address: '0.0.0.0', port: 0 }] }],
    ['http', { http: [], https: [] }],
    ['https', { https: [{ address: '::\nbind :1', port: 443 }] }],
    ['publicHttpsPort', { publicHttpsPort: 70_000 }],
    ['adminSocket', { adminSocket: 'relative.sock' }],
    ['adminSocket', { adminSocket: "/run/it's.sock" }],
    ['adminSocket', { adminSocket: '/run/a\n  stats socket /tmp/x level admin' }],
    ['adminSocket', { adminSocket: `/${'a'.repeat(120)}` }],
    ['adminSocket', { adminSocket: '/run/a,/run/b' }],
    ['adminSocket', { adminSocket: '/run/$HOME/a' }],
    ['trustedProxies', { trustedProxies: ['10.0.0.0/33'] }],
    ['trustedProxies', { trustedProxies: ['10.0.0.0/8 0.0.0.0/0'] }],
    ['trustedProxies', { trustedProxies: ['all'] }],
    ['proxyProtocol', { proxyProtocol: true }],
    ['threads', { threads: 0 }],
    ['maxConnections', { maxConnections: 1.5 }],
    ['log', { log: { to: 'socket', path: '/run/a\0b' } }],
    ['originAuthorities', { originAuthorities: 'ca.pem' }],
    ['rateLimit', { rateLimit: { windowSec: 0 } }],
    ['bufferBytes', { bufferBytes: 100 }],
  ])('a bad value of %s is named', (setting, parts) => {
    expect(() => renderConfig(settings(parts), 'test')).toThrow(InvalidSetting);
    expect(() => renderConfig(settings(parts), 'test')).toThrow(new RegExp(`^${setting}: `));
  });

  test('a path cannot become anything but a path', () => {
    const lines = renderConfig(settings(), 'test').split('\n').length;
    fc.assert(
      fc.property(fc.string(), (text) => {
        const path = `/${text}`;
        let rendered: string;
        try {
          rendered = renderConfig(
            settings({ adminSocket: path, originAuthorities: path, log: { to: 'socket', path } }),
            'test',
          );
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidSetting);
          return;
        }
        expect(rendered.split('\n').length).toBe(lines);
      }),
    );
  });

  test('has a page of its own for every status it refuses with', () => {
    const guard = { agents: ['/a'], relays: ['/r'], spoeFile: '/s', returnSocket: '/b', timeoutMs: 1 };
    const config = renderConfig(settings({ guard, rateLimit: { windowSec: 1 } }), 'test');
    const statuses = [...config.matchAll(/deny_status (\d+)/g)].map(([, status]) => Number(status));
    expect(statuses).toContain(413);
    expect(statuses.filter((status) => !ownAnswers.has(status))).toEqual([]);
  });

  test('says nothing about any host', () => {
    expect(renderConfig(settings(), 'test')).not.toContain('example.com');
  });
});
