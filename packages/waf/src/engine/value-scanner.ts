import type { ScanTest } from '../compile/scan-tests.ts';
import type { OperatorContext } from '../operators/operator.ts';
import { maskOf } from './byte-bits.ts';
import type { LiteralSearch } from './literal-search.ts';
import { candidatesFor, type ScanClass, type TrieNode } from './scan-class.ts';
import type { Transaction } from './transaction.ts';

/** A transformed value that libinjection has to look at; it is asked about all of them at once. */
export type Deferred = { readonly test: ScanTest; readonly bytes: Uint8Array; readonly owner: number };

type Branch = { readonly node: TrieNode; readonly buf: Uint8Array; readonly start: number; readonly end: number };

const initialScratch = 65_536;

/** Memory for the outputs of transformations, shared by the scanners of one rule set: they lie in it one behind another. */
export type ScanScratch = { readonly bytes: Uint8Array };

export const createScanScratch = (): ScanScratch => ({ bytes: new Uint8Array(initialScratch) });

/** Finds which tests of a class match a value: gate by byte classes, then literals, then the operator itself. */
export const createValueScanner = (literals: LiteralSearch, shared: ScanScratch) => {
  let scratch = shared.bytes;
  let used = 0;
  /** Nodes that see the same bytes and are still to be visited. */
  const pending: TrieNode[] = [];
  /** Nodes whose step changed the bytes, with what it made of them. */
  const branches: Branch[] = [];
  const hits: number[] = [];
  let deferred: Deferred[] = [];
  let owner = 0;
  let context: OperatorContext;

  const runTests = (tests: readonly ScanTest[], buf: Uint8Array, start: number, end: number, known: number): number => {
    let search = known;
    for (let at = 0; at < tests.length; at++) {
      const test = tests[at]!;
      const { gate, operator } = test;
      let isPossible = end - start >= gate.minLength;
      if (isPossible && gate.literals !== null) {
        if (search === -1) {
          context.budget.units -= end - start;
          search = literals.run(buf, start, end);
        }
        isPossible = literals.foundIn[test.index] === search;
      }
      if (isPossible && !gate.isExact) {
        if (operator.name === 'detectsqli' || operator.name === 'detectxss') {
          deferred.push({ test, bytes: buf.slice(start, end), owner });
          continue;
        }
        isPossible =
          operator.pattern !== null
            ? operator.pattern.test(buf, start, end, context.budget)
            : operator.instance!.match(buf, start, end, context);
      }
      if (isPossible !== operator.isNegated) hits.push(test.index);
    }
    return search;
  };

  /** Room for `size` bytes at `used`. Ranges handed out before stay valid: they hold the buffer they lie in. */
  const reserve = (size: number): void => {
    if (used + size <= scratch.length) return;
    scratch = new Uint8Array(Math.max(size * 2, initialScratch));
    used = 0;
  };

  const walk = (root: TrieNode, buf: Uint8Array, start: number, end: number, mask: number): void => {
    const base = pending.length;
    const firstBranch = branches.length;
    const outer = scratch;
    const mark = used;
    let search = -1;
    pending.push(root);
    while (pending.length > base) {
      const node = pending.pop()!;
      if (node.tests.length > 0) search = runTests(candidatesFor(node, mask), buf, start, end, search);
      for (const child of node.children) {
        if ((mask & child.triggers) === 0) {
          pending.push(child);
          continue;
        }
        const step = child.step!;
        context.budget.units -= end - start;
        reserve(step.bound(end - start));
        const at = used;
        const written = step.apply(buf, start, end, scratch, at);
        if (written < 0) {
          pending.push(child);
          continue;
        }
        used = at + written;
        // Changed bytes wait until all nodes that see these bytes are done: a walk of its own searches literals anew.
        branches.push({ node: child, buf: scratch, start: at, end: used });
      }
    }
    while (branches.length > firstBranch) {
      const branch = branches.pop()!;
      walk(branch.node, branch.buf, branch.start, branch.end, maskOf(branch.buf, branch.start, branch.end));
    }
    scratch = outer;
    used = mark;
  };

  return {
    /** Scans one value; the answer is valid until the next call. Injection tests go to `takeDeferred` under `asOwner`. */
    scan(
      scanClass: ScanClass,
      buf: Uint8Array,
      start: number,
      end: number,
      tx: Transaction,
      asOwner: number,
    ): readonly number[] {
      hits.length = 0;
      owner = asOwner;
      context = tx.operatorContext(false);
      const mask = maskOf(buf, start, end);
      context.budget.units -= end - start + 32;
      if ((mask & scanClass.triggers) === 0) runTests(candidatesFor(scanClass, mask), buf, start, end, -1);
      else walk(scanClass.root, buf, start, end, mask);
      return hits;
    },
    takeDeferred(): Deferred[] {
      const taken = deferred;
      if (taken.length > 0) deferred = [];
      return taken;
    },
  };
};

export type ValueScanner = ReturnType<typeof createValueScanner>;
