// Names and values of a schema, suggested while typing and explained on hover (JSN-1).

import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorState } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { type SchemaNode, schemaAt } from './logic/schema-at.ts';

export function schemaCompletion(schema: unknown): Extension {
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
