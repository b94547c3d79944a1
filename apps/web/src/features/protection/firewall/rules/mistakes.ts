import { type EditorState, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import type { Mistake } from './use-check.ts';

/** How many letters of a line the first so many bytes of its UTF-8 are. */
const lettersOf = (line: string, bytes: number): number => {
  let letters = 0;
  let seen = 0;
  const encoder = new TextEncoder();
  for (const letter of line) {
    if (seen >= bytes) break;
    seen += encoder.encode(letter).length;
    letters += letter.length;
  }
  return letters;
};

/** Where a mistake is in the text, from and to; lines that are gone meanwhile are the last one. */
export const placeOf = (doc: Text, { line, column, token }: Mistake): { from: number; to: number; end: number } => {
  const { from, to, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const named = lettersOf(text, column - 1);
  // Of a pattern, the place is where it begins; the token is what in it is wrong.
  const found = token === '' ? -1 : text.indexOf(token, named);
  const start = Math.min(from + (found === -1 ? named : found), to);
  return { from: start, to: Math.min(start + Math.max(found === -1 ? 0 : token.length, 1), to), end: to };
};

/** What is wrong, below the line that it is in. */
class MistakeBelow extends WidgetType {
  readonly words: string;
  readonly isWarning: boolean;

  constructor(words: string, isWarning: boolean) {
    super();
    this.words = words;
    this.isWarning = isWarning;
  }

  override eq(other: MistakeBelow): boolean {
    return other.words === this.words && other.isWarning === this.isWarning;
  }

  override toDOM(): HTMLElement {
    const below = document.createElement('div');
    below.className = `cm-mistake foreign${this.isWarning ? ' cm-warning' : ''}`;
    below.textContent = this.words;
    return below;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

const underline = Decoration.mark({ class: 'cm-mistaken' });
const doubtful = Decoration.mark({ class: 'cm-doubtful' });
const wrongLine = Decoration.line({ class: 'cm-wrong-line' });
const doubtfulLine = Decoration.line({ class: 'cm-doubtful-line' });

const show = (
  state: EditorState,
  mistakes: readonly Mistake[],
  wordsOf: (mistake: Mistake) => string,
): DecorationSet => {
  const placed = mistakes
    .filter(({ file }) => file === null)
    .map((mistake) => ({ ...placeOf(state.doc, mistake), words: wordsOf(mistake), isWarning: mistake.isWarning }));
  const decorations = placed.flatMap(({ from, to, end, words, isWarning }) => [
    (isWarning ? doubtfulLine : wrongLine).range(state.doc.lineAt(from).from),
    ...(to > from ? [(isWarning ? doubtful : underline).range(from, to)] : []),
    Decoration.widget({ widget: new MistakeBelow(words, isWarning), block: true, side: 1 }).range(end),
  ]);
  return Decoration.set(decorations, true);
};

interface Shown {
  mistakes: readonly Mistake[];
  wordsOf: (mistake: Mistake) => string;
}

/** Has these mistakes shown in place of those before. */
export const showMistakes = StateEffect.define<Shown>();

/** What is wrong, at its lines; it moves along with what is typed. */
export const mistakesAtTheirLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const given = transaction.effects.find((effect) => effect.is(showMistakes));
    if (given) return show(transaction.state, given.value.mistakes, given.value.wordsOf);
    return shown.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});
