import { expect, test } from 'vitest';
import { withDefaultLimits } from './limits.ts';

const defaults = {
  ...{ maxMessages: 16, maxArguments: 64, maxFragmentedSize: 0, maxConnections: 1024 },
  ...{ maxOutstandingPerConnection: 128, maxOutstanding: 2048 },
  ...{ frameTimeoutMs: 5_000, handlerTimeoutMs: 30_000, idleTimeoutMs: 3_600_000, lingerTimeoutMs: 1_000 },
};

test('what is not given is bounded all the same', () => {
  expect(withDefaultLimits({})).toEqual(defaults);
  expect(withDefaultLimits({ maxMessages: 1, maxArguments: 255 })).toEqual({
    ...defaults,
    maxMessages: 1,
    maxArguments: 255,
  });
});

test.each(Object.keys(defaults))(
  '%s is a whole number of at least one, but that fragments may be forbidden',
  (name) => {
    const least = name === 'maxFragmentedSize' ? 0 : 1;
    expect(withDefaultLimits({ [name]: least })).toMatchObject({ [name]: least });
    for (const value of [least - 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, undefined])
      expect(() => withDefaultLimits({ [name]: value })).toThrow(
        `${name} must be a whole number from ${least}, not ${value}`,
      );
  },
);

test('a message has no more arguments than its byte can count', () => {
  expect(() => withDefaultLimits({ maxArguments: 256 })).toThrow('maxArguments is at most 255');
});
