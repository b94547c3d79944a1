import { expect, test } from 'vitest';
import { normaliseSetup, setupOfHost, splitList } from './waf-setup.ts';

test('entries of a list are those between its commas', () => {
  expect(splitList(' GET ,,POST, ')).toEqual(['GET', 'POST']);
  expect(splitList('')).toEqual([]);
});

test('methods are upper case, media types lower case, and each is there once; the rest stays as it is', () => {
  const given = { waf_allowed_methods: ' get,POST,Get', waf_allowed_content_types: 'Text/HTML, text/html', name: 'a' };
  expect(normaliseSetup(given)).toEqual({
    waf_allowed_methods: 'GET,POST',
    waf_allowed_content_types: 'text/html',
    name: 'a',
  });
  const none = { waf_allowed_methods: null, waf_allowed_content_types: null };
  expect([normaliseSetup(none), normaliseSetup({})]).toEqual([none, {}]);
});

test.each([
  [{ waf_allowed_methods: ' , ' }, 'waf_allowed_methods names nothing'],
  [{ waf_allowed_content_types: '' }, 'waf_allowed_content_types names nothing'],
  [{ waf_allowed_methods: 'GET,text/html' }, 'waf_allowed_methods: "TEXT/HTML" is not a request method'],
  [
    { waf_allowed_content_types: 'text/html,GET' },
    'waf_allowed_content_types: "get" is not a media type such as application/json',
  ],
])('%j is refused, and told why', (input, message) => {
  expect(() => normaliseSetup(input)).toThrow(expect.objectContaining({ status: 400, message }));
});

test('guards are told what a host has of its own, and nothing else', () => {
  const nothing = { waf_allowed_methods: null, waf_allowed_content_types: null, waf_body_limit: null };
  expect(setupOfHost(nothing)).toEqual({});
  expect(setupOfHost({ ...nothing, waf_body_limit: 0 })).toEqual({ waf_body_limit: 0 });
  expect(setupOfHost({ ...nothing, waf_allowed_methods: 'GET,POST' })).toEqual({
    waf_settings: { allowed_methods: 'GET POST' },
  });
  expect(setupOfHost({ ...nothing, waf_allowed_content_types: 'text/html,text/css' })).toEqual({
    waf_settings: { allowed_request_content_type: '|text/html| |text/css|' },
  });
});
