import { expect, test } from 'vitest';
import { parseInternalNames, parseOrderNames } from './names.ts';

test('names of an order are normalised, and the first that no authority certifies is named', () => {
  expect(parseOrderNames(['A.Example.com', '192.0.2.1'], 'http-01')).toEqual(['a.example.com', '192.0.2.1']);
  expect(parseOrderNames(['*.Example.com'], 'dns-01')).toEqual(['*.example.com']);
  expect(() => parseOrderNames(['a.example.com', 'nas'], 'http-01')).toThrow(/^names\[1\]: /);
  expect(() => parseOrderNames(['*.example.com'], 'http-01')).toThrow(/^names\[0\]: .*dns-01/);
  expect(() => parseOrderNames([], 'http-01')).toThrow(/^names: /);
});

test('those that our own authority certifies may have one label, and stand there once', () => {
  const names = ['NAS', '*.Home.lan', '192.168.0.1', '2001:DB8::0:1'];
  expect(parseInternalNames(names)).toEqual(['nas', '*.home.lan', '192.168.0.1', '2001:db8::1']);
  expect(() => parseInternalNames(['nas', 'bad name'])).toThrow(/^names\[1\]: /);
  expect(() => parseInternalNames(['nas.lan', 'NAS.lan'])).toThrow(/^names\[1\]: "NAS\.lan" is there twice/);
});
