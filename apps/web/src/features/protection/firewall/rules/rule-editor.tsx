import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { nonce } from '../../../../app/nonce.ts';
import { look } from './look.ts';
import { mistakesAtTheirLines, placeOf, showMistakes } from './mistakes.ts';
import { seclang } from './seclang.ts';
import type { Mistake } from './use-check.ts';

/** What others may have the editor do. */
export interface Editor {
  /** Puts the cursor where the mistake is. */
  goTo: (mistake: Mistake) => void;
}

interface RuleEditorProps {
  ref?: Ref<Editor>;
  label: string;
  /** Ids of what describes it, for those who hear the page. */
  describedBy: string;
  value: string;
  onChange: (value: string) => void;
  mistakes: readonly Mistake[];
  wordsOf: (mistake: Mistake) => string;
  isReadOnly: boolean;
}

/** What is typed over a selection: browsers put it into an element with a style of its own, which the page's policy refuses. */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event as InputEvent;
    if (inputType !== 'insertText' || !data || view.composing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

/** Rules as they are written, in colours, with what is wrong at its lines. Tab leaves it, as it leaves any field. */
const RuleEditor = (props: RuleEditorProps) => {
  const { ref, label, describedBy, value, mistakes, wordsOf, isReadOnly } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          EditorView.cspNonce.of(nonce),
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          EditorView.lineWrapping,
          keymap.of([...defaultKeymap, ...historyKeymap]),
          typedOver,
          seclang,
          mistakesAtTheirLines,
          look,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({
            'aria-label': label,
            'aria-describedby': describedBy,
            'aria-readonly': String(isReadOnly),
            spellcheck: 'false',
            tabindex: '0',
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label, describedBy, isReadOnly]);

  // What is typed here comes back as `value`; only what came from elsewhere takes its place.
  useEffect(() => {
    const { current } = view;
    // The editor has line ends of its own: other ones make no other text.
    const doc = current?.state.toText(value);
    if (!current || !doc || current.state.doc.eq(doc)) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: doc } });
  }, [value]);

  useEffect(() => {
    view.current?.dispatch({ effects: showMistakes.of({ mistakes, wordsOf }) });
  }, [mistakes, wordsOf]);

  useImperativeHandle(ref, () => ({
    goTo(mistake) {
      const { current } = view;
      if (!current) return;
      const { from } = placeOf(current.state.doc, mistake);
      current.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
      current.focus();
    },
  }));

  return <div ref={place} />;
};
export default RuleEditor;
