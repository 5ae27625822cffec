// CodeMirror set up for JSON: errors, folding, search. Names and values of a schema are suggested while typing and
// explained on hover (JSN-1). Loaded lazily (see json-editor.tsx).

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxTree } from '@codemirror/language';
import { linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec, type Transaction } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { styleNonce } from '../../data/nonce.ts';
import { editorColours, editorLook } from './editor-look.ts';
import type { JsonEditorProps } from './json-editor.tsx';
import { type SchemaNode, schemaAt } from './logic/schema-at.ts';

export default function CodeMirror(props: JsonEditorProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { value, schema, readOnly = false, minLines = 4, maxLines = 24 } = props;
  const compartments = useRef({ schema: new Compartment(), readOnly: new Compartment() });
  useEffect(() => {
    const { current: parent } = host;
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
      ref={host}
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

function schemaCompletion(schema: unknown): Extension {
  if (typeof schema !== 'object' || schema === null) return [];
  const root = schema as SchemaNode;
  return [
    EditorState.languageData.of(() => [{ autocomplete: (context: CompletionContext) => complete(root, context) }]),
    hoverTooltip((view, at) => {
      const node = syntaxTree(view.state).resolveInner(at, -1);
      if (node.name !== 'PropertyName') return null;
      const found = schemaAt(
        root,
        pathOf(node, (from, to) => view.state.sliceDoc(from, to)),
      );
      const text = [typeText(found), found?.description].filter(Boolean).join(' — ');
      if (text === '') return null;
      const create = (): { dom: HTMLElement } => {
        const dom = document.createElement('div');
        dom.textContent = text;
        dom.style.padding = '4px 8px';
        return { dom };
      };
      return { pos: node.from, end: node.to, create };
    }),
  ];
}

function complete(root: SchemaNode, context: CompletionContext): CompletionResult | null {
  const node = syntaxTree(context.state).resolveInner(context.pos, -1);
  const slice = (from: number, to: number): string => context.state.sliceDoc(from, to);
  const word = context.matchBefore(/"?[\w-]*$/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const isValue = /:\s*"?[\w-]*$/.test(slice(Math.max(0, context.pos - 200), context.pos));
  const around = schemaAt(root, pathOf(node, slice));
  const options = isValue
    ? (around?.enum ?? []).map((value) => ({ label: JSON.stringify(value), type: 'enum' }))
    : Object.entries(around?.properties ?? schemaAt(root, pathOf(node, slice).slice(0, -1))?.properties ?? {}).map(
        ([name, below]) => ({ label: JSON.stringify(name), detail: typeText(below), type: 'property' }),
      );
  return options.length === 0 ? null : { from: word.from, options, validFor: /^"?[\w-]*$/ };
}

/** Names from the root to the node. A schema does not distinguish array indexes: they are `*`. */
function pathOf(node: SyntaxNode, slice: (from: number, to: number) => string): string[] {
  const path: string[] = [];
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
    if (at.name === 'Property') {
      const name = at.getChild('PropertyName');
      if (name !== null) path.unshift(slice(name.from + 1, name.to - 1));
    } else if (at.parent?.name === 'Array') path.unshift('*');
  }
  return path;
}

function typeText(schema: SchemaNode | undefined): string {
  return [schema?.type ?? []].flat().join(' or ');
}
