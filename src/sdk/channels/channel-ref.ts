// References to channel ends, as they travel in payloads and results.

import { isRecord } from '../../protocol/json/record.ts';

/**
 * One end of a channel, as plain JSON at any place in a payload or a result. The holder may use that end, once. A
 * worker of this SDK gets a live `ChannelReader` or `ChannelWriter` in its place.
 *
 * @example
 * import { registerWorker, type ChannelRef } from 'svc-sdk';
 *
 * const { readerRef } = await registerWorker().createChannel();
 * const ref: ChannelRef = readerRef;
 * console.log(ref.channel_id, ref.direction);
 */
export interface ChannelRef {
  readonly channel_id: string;
  /** Anyone who knows it may use the end: treat it like a password. */
  readonly access_key: string;
  readonly direction: 'read' | 'write';
}

/** Occurs in the text of every message that holds a reference: a text without it need not be searched. */
export const REF_MARK = '"channel_id"';

/**
 * Replaces each reference in the value with what `make` returns for it; equal references are made once. Objects and
 * arrays are changed in place: the value has just been parsed and has no other owner.
 */
export function replaceRefs(value: unknown, make: (ref: ChannelRef) => object): unknown {
  const made = new Made(make);
  if (typeof value !== 'object' || value === null) return value;
  if (isRef(value)) return made.of(value);
  // A list instead of recursion: the sender of the value chooses how deep it is.
  const unsearched: object[] = [value];
  for (let outer = unsearched.pop(); outer !== undefined; outer = unsearched.pop()) {
    const members = outer as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(members)) {
      const inner = members[key];
      if (typeof inner !== 'object' || inner === null) continue;
      // The key is an own property, as the parser made it: here even `__proto__` is a key like any other.
      if (isRef(inner)) Reflect.set(outer, key, made.of(inner));
      else unsearched.push(inner);
    }
  }
  return value;
}

function isRef(value: object): value is ChannelRef {
  if (!isRecord(value)) return false;
  const { channel_id, access_key, direction } = value;
  return (
    typeof channel_id === 'string' && typeof access_key === 'string' && (direction === 'read' || direction === 'write')
  );
}

/** An end can be used once, so a reference that occurs twice must not become two ends. */
class Made {
  readonly #make: (ref: ChannelRef) => object;
  readonly #ends = new Map<string, object>();

  constructor(make: (ref: ChannelRef) => object) {
    this.#make = make;
  }

  of({ channel_id, access_key, direction }: ChannelRef): object {
    const name = `${direction} ${channel_id} ${access_key}`;
    const end = this.#ends.get(name) ?? this.#make({ channel_id, access_key, direction });
    this.#ends.set(name, end);
    return end;
  }
}
