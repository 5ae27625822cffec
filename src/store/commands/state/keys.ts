// The entries of state: `s`, scope, zero, key.

import { joinKey, type KeyRange, keysBelow, partsOf, SPACE } from '../../kv/keys.ts';
import type { KeyFilter } from './requests.ts';

export function entryKey(scope: Uint8Array, key: Uint8Array): Buffer {
  return joinKey(SPACE.state, scope, key);
}

export function entriesOf(scope: Uint8Array): KeyRange {
  return keysBelow(SPACE.state, scope);
}

/** Entries of the scope whose key begins with `prefix` and comes after `after`, where these are given. */
export function entriesWhere(scope: Uint8Array, { prefix, after }: KeyFilter): KeyRange {
  const all = entriesOf(scope);
  const first = prefix === undefined ? all.start : entryKey(scope, prefix);
  // No key holds a zero byte, so nothing lies between a key and the same key with one; and no key holds a 0xff.
  const behind = after === undefined ? first : Buffer.concat([entryKey(scope, after), ZERO]);
  return {
    start: Buffer.compare(behind, first) > 0 ? behind : first,
    end: prefix === undefined ? all.end : Buffer.concat([first, LAST]),
  };
}

const ZERO = Buffer.of(0);
const LAST = Buffer.of(0xff);

export function allEntries(): KeyRange {
  return keysBelow(SPACE.state);
}

/** Scope and key of an entry. */
export function namesOf(entry: Uint8Array): { readonly scope: Buffer; readonly key: Buffer } {
  const [scope, key] = partsOf(entry);
  if (scope === undefined || key === undefined) throw new Error('A state entry has a scope and a key');
  return { scope, key };
}
