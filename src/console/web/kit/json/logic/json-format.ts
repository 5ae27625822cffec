// JSON with new indentation, or without any. Every number and string stays as it was written (JSN-2).

import { type JsonNode, parseJsonSource, sourceOf } from './json-source.ts';

export function formatJsonSource(text: string, indent = '  '): string {
  return print(text, parseJsonSource(text), indent, '');
}

export function minifyJsonSource(text: string): string {
  return print(text, parseJsonSource(text), undefined, '');
}

function print(text: string, node: JsonNode, indent: string | undefined, before: string): string {
  if (node.kind !== 'object' && node.kind !== 'array') return sourceOf(text, node);
  const [head, tail] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
  const inner = indent === undefined ? '' : before + indent;
  const parts =
    node.kind === 'object'
      ? node.members.map(
          ({ key, value }) =>
            `${JSON.stringify(key)}:${indent === undefined ? '' : ' '}${print(text, value, indent, inner)}`,
        )
      : node.items.map((item) => print(text, item, indent, inner));
  if (parts.length === 0) return `${head}${tail}`;
  if (indent === undefined) return `${head}${parts.join(',')}${tail}`;
  return `${head}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${before}${tail}`;
}
