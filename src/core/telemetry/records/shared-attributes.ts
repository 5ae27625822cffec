// Equal attributes of many spans, kept once. Most calls of a function have the same ones, and of the objects of a span
// that is kept, two thirds are attributes: each one costs the garbage collector a visit as long as the span is there.

import type { Attributes } from './records.ts';

/** By their text. Workers choose them, so the cache is bounded. */
const known = new Map<string, Attributes>();
const KNOWN_MAX = 1_024;
const TEXT_CHARS_MAX = 1_024;

export function sharedAttributes(attributes: Attributes): Attributes {
  let text = '';
  for (const [key, value] of attributes) text += `${key}\0${value}\0`;
  if (text.length > TEXT_CHARS_MAX) return attributes;
  const found = known.get(text);
  // A value that contains the separator has the text of other attributes.
  if (found !== undefined && areEqual(found, attributes)) return found;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(text, attributes);
  return attributes;
}

function areEqual(some: Attributes, others: Attributes): boolean {
  if (some.length !== others.length) return false;
  return some.every(([key, value], at) => key === others[at]?.[0] && value === others[at][1]);
}
