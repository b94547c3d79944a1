/** Words of a page: plain, or what they are besides. */
export type Words =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong'; words: Words[] }
  | { kind: 'em'; words: Words[] }
  | { kind: 'link'; to: string; words: Words[] };

export type Part =
  | { kind: 'heading'; level: number; id: string; words: Words[] }
  | { kind: 'paragraph'; words: Words[] }
  | { kind: 'code'; text: string }
  /** By the name of its file in docs/pictures. */
  | { kind: 'picture'; name: string; alt: string }
  | { kind: 'list'; isOrdered: boolean; items: Part[][] }
  | { kind: 'table'; head: Words[][]; rows: Words[][][] };

/** A page of the guide, as its build made it of a file of `docs`. Nothing of it is mark-up any more. */
export interface GuidePage {
  title: string;
  parts: Part[];
}
