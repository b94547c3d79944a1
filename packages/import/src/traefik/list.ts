import type { Tree } from './tree.ts';

/** The entries of a list, which labels have with commas. */
export const listOf = (tree: Tree | undefined): string[] =>
  tree?.text !== undefined
    ? tree.text.split(',').map((part) => part.trim())
    : (tree?.items ?? []).flatMap(({ text }) => text ?? []);
