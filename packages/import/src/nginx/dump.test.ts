import { expect, test } from 'vitest';
import { splitDump } from './dump.ts';

test('what nginx -T prints is as many files as it says, each to where the next begins', () => {
  const one = 'http {\n  # configuration file of nobody:\n}\n';
  const content = `# configuration file /etc/nginx/nginx.conf:\n${one}# configuration file /etc/nginx/b c.conf: \r\nuser x;\n`;
  expect(splitDump({ name: 'dump', content })).toEqual([
    { name: '/etc/nginx/nginx.conf', content: one },
    { name: '/etc/nginx/b c.conf', content: 'user x;\n' },
  ]);
  const plain = { name: 'nginx.conf', content: one };
  expect(splitDump(plain)).toEqual([plain]);
});
