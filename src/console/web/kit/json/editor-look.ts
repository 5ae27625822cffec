// The colours of the editor are CSS variables of the page: one theme definition serves both themes.

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const editorLook = EditorView.theme({
  '&': { fontSize: '12px', minHeight: 'var(--editor-min)', maxHeight: 'var(--editor-max)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '18px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '4px 0' },
  '.cm-gutters': { background: 'transparent', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'transparent' },
  '&.cm-focused .cm-activeLine': { background: 'color-mix(in oklch, var(--hover) 60%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selected)',
  },
  '.cm-tooltip, .cm-panels': {
    background: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent-fill)', color: 'var(--on-accent)' },
  '.cm-panel input, .cm-panel button': {
    background: 'var(--ground)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    backgroundImage: 'none',
  },
  '.cm-foldPlaceholder': { background: 'var(--raised)', border: 'none', color: 'var(--muted)' },
  '.cm-searchMatch': { background: 'var(--warn-soft)' },
  '.cm-matchingBracket': { background: 'var(--selected) !important' },
});

export const editorColours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: 'var(--accent)' },
    { tag: tags.string, color: 'var(--good)' },
    { tag: tags.number, color: 'var(--warn)' },
    { tag: [tags.bool, tags.null], color: 'var(--violet)' },
    { tag: tags.punctuation, color: 'var(--muted)' },
  ]),
);
