// CodeMirror set up for JSON: errors, folding, search, completion from a schema. Loaded lazily (see json-editor.tsx).

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec, type Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { styleNonce } from '../../data/nonce.ts';
import { editorColours, editorLook } from './editor-look.ts';
import type { JsonEditorProps } from './json-editor.tsx';
import { schemaCompletion } from './schema-completion.ts';

export default function CodeMirror(props: JsonEditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { value, schema, readOnly = false, minLines = 4, maxLines = 24 } = props;
  const compartments = useRef({ schema: new Compartment(), readOnly: new Compartment() });
  useEffect(() => {
    const { current: parent } = place;
    if (parent === null) return;
    const made = new EditorView({
      parent,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [extensionsOf(latest), compartments.current.schema.of([]), compartments.current.readOnly.of([])],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const { current: editor } = view;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: compartments.current.schema.reconfigure(schemaCompletion(schema)) });
  }, [schema]);
  useEffect(() => {
    const locked: Extension = [EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)];
    view.current?.dispatch({ effects: compartments.current.readOnly.reconfigure(locked) });
  }, [readOnly]);
  return (
    <div
      ref={place}
      className="min-w-0 overflow-hidden rounded-md border border-line bg-ground focus-within:border-accent"
      style={{
        ['--editor-min' as string]: `${minLines * 18 + 10}px`,
        ['--editor-max' as string]: `${maxLines * 18 + 10}px`,
      }}
    />
  );
}

function extensionsOf(latest: RefObject<JsonEditorProps>): Extension {
  const run = (act: (() => void) | undefined): boolean => {
    act?.();
    return act !== undefined;
  };
  return [
    EditorView.cspNonce.of(styleNonce),
    Prec.highest(
      keymap.of([
        { key: 'Mod-Enter', run: () => run(latest.current.onRun) },
        { key: 'Mod-s', run: () => run(latest.current.onSave), preventDefault: true },
      ]),
    ),
    [lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets()],
    [autocompletion(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true })],
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
      // Esc and then Tab leaves the editor, as CodeMirror documents.
      indentWithTab,
    ]),
    [json(), linter(emptyIsFine(jsonParseLinter())), lintGutter()],
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: typeOver }),
    EditorView.contentAttributes.of({ 'aria-label': latest.current.label }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      const text = update.state.doc.toString();
      if (text !== latest.current.value) latest.current.onChange?.(text);
    }),
    [editorLook, editorColours],
  ];
}

/**
 * When text replaces coloured text, Chromium adds an inline style by default, which the content policy refuses. The
 * editor makes the change instead, and runs the same handlers (brackets are put around a selection).
 */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { state, composing } = view;
  const { main, ranges } = state.selection;
  if (inputType !== 'insertText' || data === null || composing || state.readOnly) return false;
  if (main.empty || ranges.length > 1) return false;
  const change = (): Transaction =>
    state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  const isTaken = state.facet(EditorView.inputHandler).some((take) => take(view, main.from, main.to, data, change));
  if (!isTaken) view.dispatch(change());
  event.preventDefault();
  return true;
}

/** An empty text is no payload, not a mistake. */
function emptyIsFine(check: ReturnType<typeof jsonParseLinter>): ReturnType<typeof jsonParseLinter> {
  return (view) => (view.state.doc.toString().trim() === '' ? [] : check(view));
}
