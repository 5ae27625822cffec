// Ids that users choose: functions, triggers, trigger types.

import { ID_BYTES_MAX } from './limits.ts';

/** Why a text cannot be an id, in words that follow the id's kind ("function id …"); `undefined` if it can. */
export function idOffence(id: string): string | undefined {
  if (id.trim() === '') return 'must not be blank';
  if (CONTROL.test(id)) return 'must not contain control characters';
  if (HALF_PAIR.test(id)) return 'must not contain half of a surrogate pair';
  // A UTF-16 unit takes at most three bytes of UTF-8: only long ids need counting.
  if (id.length * 3 > ID_BYTES_MAX && utf8Length(id) > ID_BYTES_MAX) {
    return `is ${utf8Length(id)} bytes long, over the limit of ${ID_BYTES_MAX}`;
  }
  return undefined;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** Half of a pair has no UTF-8 form, so two such ids could become one on their way through a store or a header. */
const HALF_PAIR = /\p{Surrogate}/u;
