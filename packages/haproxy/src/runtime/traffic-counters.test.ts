import { expect, test } from 'vitest';
import { parseTrafficCounters } from './traffic-counters.ts';

const header = '# pxname,svname,bout,bin,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,last_chk,';
const frontend = 'proxy,FRONTEND,900,500,1,20,3,4,5,6,,';
const once = 'once,BACKEND,100,50,0,2,0,1,9,0,,';

test('fields are found by their names, and what went through twice counts once', () => {
  expect(parseTrafficCounters([header, frontend, once, ''].join('\n'))).toEqual({
    // More than the frontend has: it ended between the two lines.
    requests: { '1xx': 1, '2xx': 18, '3xx': 3, '4xx': 3, '5xx': 0, other: 6 },
    bytesIn: 450,
    bytesOut: 800,
  });
  const other = parseTrafficCounters(`${header}\n${frontend}\nrelayed,FRONTEND,9,9,9,9,9,9,9,9,,\n`);
  expect(other.requests['2xx']).toBe(20);
  expect(other.bytesIn).toBe(500);
});

test.each([
  ['nothing', '\n', 'no header'],
  ['no header', `${frontend}\n`, 'no header'],
  ['another header', `${header.replace('# pxname', '# name')}\n${frontend}\n`, 'no header'],
  ['another frontend', `${header}\nother,FRONTEND,900,500,1,20,3,4,5,6,,\n`, 'no frontend proxy'],
  ['a missing column', '# pxname,svname,bin,\nproxy,FRONTEND,1,\n', 'hrsp_1xx is no number'],
  ['no number', `${header}\n${frontend.replace('500', '')}\n`, 'bin is no number'],
  ['a number and more', `${header}\n${frontend.replace('500', '500x')}\n`, 'bin is no number'],
  ['less than none', `${header}\n${frontend.replace('900', '-900')}\n`, 'bout is no number'],
  ['a cut line', `${header}\nproxy,FRONTEND,900\n`, 'hrsp_1xx is no number'],
])('%s is no counter', (_what, csv, reason) => {
  expect(() => parseTrafficCounters(csv)).toThrow(`HAProxy refused "show stat": ${reason}`);
});
