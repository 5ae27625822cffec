// Payloads in MessagePack, the form of clients in other languages. msgpackr reads and writes it; message-pack-check.ts
// looks at the bytes first, because they come from any client.

import { Packr, Unpackr } from 'msgpackr/pack';
import { type RawJson, rawJson } from '../json/byte-string.ts';
import { MESSAGE_PACK_BYTES_MAX, MessagePackCheck } from './message-pack-check.ts';
import type { MessagePackWriter } from './payload.ts';

declare global {
  interface JSON {
    /** In V8 since Node 21. */
    rawJSON(text: string): object;
  }
}

/** Records are an extension of msgpackr that no other library reads. */
const PORTABLE = { useRecords: false, variableMapSize: true } as const;

export class MessagePackForm implements MessagePackWriter {
  readonly name = 'MessagePack';
  readonly #packr = new Packr(PORTABLE);
  readonly #unpackr = new Unpackr({ ...PORTABLE, int64AsType: 'number' });
  /** For integers that a number cannot hold exactly. */
  readonly #exactUnpackr = new Unpackr({ ...PORTABLE, int64AsType: 'bigint' });
  readonly #check = new MessagePackCheck();

  textOf(bytes: Buffer, start: number, end: number): RawJson | undefined {
    if (this.offenceOf(bytes, start, end) !== undefined) return undefined;
    const text = this.#check.holdsLargeIntegers
      ? rawJson(this.#exactUnpackr.unpack(bytes, { start, end }), writeInteger)
      : rawJson(this.#unpackr.unpack(bytes, { start, end }));
    // The reader writes this in place of bytes that are not UTF-8.
    if (!text.includes(REPLACEMENT)) return text;
    return this.#check.offenceOf(bytes, start, end, true) === undefined ? text : undefined;
  }

  isLongerThan(bytes: Buffer, start: number, end: number, bytesMax: number): boolean {
    return (this.textOf(bytes, start, end)?.length ?? 0) > bytesMax;
  }

  offenceOf(bytes: Buffer, start: number, end: number): string | undefined {
    return this.#check.offenceOf(bytes, start, end, false);
  }

  write(value: unknown): Buffer | undefined {
    if (!isWellFormed(value)) return undefined;
    // A copy, because msgpackr reuses the memory.
    const bytes = Buffer.from(this.#packr.pack(value));
    return bytes.length > MESSAGE_PACK_BYTES_MAX ? undefined : bytes;
  }
}

/** U+FFFD in UTF-8, one character for each byte. */
const REPLACEMENT = 'ï¿½';

function writeInteger(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
}

/** Whether all its texts have a UTF-8 form: half of a surrogate pair has none. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
}
