// Builds JSON text from pieces, without building the value first.

import { asByteString, type ByteString, quoted } from '../../../protocol/json/byte-string.ts';

/** An object of strings, or of lists of strings where a name occurs more than once. */
export function objectText(members: ReadonlyMap<string, string | readonly string[]>): ByteString {
  let text = '{';
  for (const [name, value] of members) {
    const shown = typeof value === 'string' ? quoted(value) : `[${value.map(quoted).join(',')}]`;
    text += `${text === '{' ? '' : ','}${quoted(name)}:${shown}`;
  }
  return asByteString(`${text}}`);
}

export function joined(...parts: readonly string[]): ByteString {
  return asByteString(parts.join(''));
}
