import { answer } from '../../../../test/support/ftw/back-end.ts';
import { readRequest } from '../../../../test/support/ftw/front-end.ts';
import { readSuite } from '../../../../test/support/ftw/suite.ts';
import { toBytes } from '../../../../test/support/ftw/to-bytes.ts';
import type { RuleSet, Verdict } from '../../src/index.ts';
import { createMutator } from './mutate-request.ts';

/** Mutates the requests of a test suite and puts them, with a response, to the rule set; yields each verdict. */
export function* fuzz(ruleSet: RuleSet, folder: string, count: number, seed: number): Generator<Verdict> {
  const corpus = readSuite(folder).map(({ stages, isOldDialect }) => toBytes(stages[0]!, isOldDialect));
  const mutate = createMutator(seed);
  const now = Date.UTC(2026, 0, 15, 12);
  for (let number = 0; number < count; number++) {
    let raw = corpus[number % corpus.length]!;
    for (let rounds = 1 + (number % 3); rounds > 0; rounds--) raw = mutate(raw);
    const { request } = readRequest(raw, now + number);
    const odd =
      number % 5 === 0 ? { ...request, bodyTruncated: true, clientAddress: `203.0.113.${number % 256}` } : request;
    yield ruleSet.begin(odd).inspectResponse(answer(request));
  }
}
