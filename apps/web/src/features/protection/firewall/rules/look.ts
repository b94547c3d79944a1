import { EditorView } from '@codemirror/view';

/** How the editor looks: as a field of the forms, in both schemes. */
export const look = EditorView.theme({
  '&': {
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-sm)',
    background: 'var(--mantine-color-default)',
    color: 'var(--mantine-color-text)',
    fontSize: 'var(--mantine-font-size-sm)',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-1px' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.6',
    minHeight: '16rem',
    maxHeight: 'max(16rem, calc(100dvh - 22rem))',
  },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    background: 'light-dark(var(--mantine-color-gray-0), var(--mantine-color-dark-7))',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-activeLine': { background: 'light-dark(rgb(11 110 105 / 5%), rgb(114 196 186 / 7%))' },
  '& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    { background: 'light-dark(rgb(11 110 105 / 20%), rgb(114 196 186 / 28%))' },
  '.cm-wrong-line': { background: 'light-dark(rgb(179 38 30 / 6%), rgb(242 155 153 / 10%))' },
  '.cm-doubtful-line': { background: 'light-dark(rgb(178 122 0 / 7%), rgb(229 190 102 / 9%))' },
  '.cm-mistaken, .cm-doubtful': {
    textDecoration: 'underline wavy light-dark(#b3261e, #f29b99)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '3px',
  },
  '.cm-doubtful': { textDecorationColor: 'var(--warning-text)' },
  '.cm-mistake': {
    padding: '0.2rem 0.75rem 0.3rem',
    borderLeft: '3px solid light-dark(#b3261e, #f29b99)',
    background: 'light-dark(var(--mantine-color-red-0), rgb(216 68 63 / 16%))',
    color: 'light-dark(#941d17, #f2b1b0)',
    fontFamily: 'var(--mantine-font-family)',
    fontSize: 'var(--mantine-font-size-xs)',
    whiteSpace: 'pre-wrap',
  },
  '.cm-mistake.cm-warning': {
    borderLeftColor: 'var(--warning-text)',
    background: 'light-dark(var(--mantine-color-yellow-0), rgb(229 190 102 / 12%))',
    color: 'var(--warning-text)',
  },
});
