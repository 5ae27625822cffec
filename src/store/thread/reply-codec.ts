// The answers of one batch, encoded by the store's thread as one block of bytes.
//
//   u8 whether the disk is nearly full · u32 damaged records that were met
//   and for each command: u8 outcome · u32 length · result, or error as JSON · u32 events
//   and for each event: f64 seq · u8 parts of its place · kind · parts · body, each preceded by its u32 length

import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { StoreEvent, StoreReply } from './contract.ts';

const OUTCOME = { result: 0, nothing: 1, error: 2 } as const;
const EMPTY = Buffer.alloc(0);

export interface BatchFacts {
  readonly isFull: boolean;
  readonly damagedRecords: number;
}

export function encodeReplies(replies: readonly StoreReply[], facts: BatchFacts): ArrayBuffer {
  const texts = replies.map((reply) => outcomeBytes(reply));
  let length = 5;
  for (let index = 0; index < replies.length; index++) {
    length += 9 + (texts[index]?.length ?? 0);
    for (const event of replies[index]?.events ?? []) length += eventLength(event);
  }
  const writer = new BlockWriter(length);
  writer.byte(facts.isFull ? 1 : 0);
  writer.count(facts.damagedRecords);
  for (let index = 0; index < replies.length; index++) {
    const reply = replies[index] ?? {};
    const { error, result } = reply;
    writer.byte(error !== undefined ? OUTCOME.error : result !== undefined ? OUTCOME.result : OUTCOME.nothing);
    writer.bytes(texts[index] ?? EMPTY);
    writer.count(reply.events?.length ?? 0);
    for (const event of reply.events ?? []) writeEvent(writer, event);
  }
  return writer.block();
}

/** The replies in the order of the commands. Their contents are views of the block. */
export class ReplyReader {
  readonly facts: BatchFacts;
  readonly #block: Buffer;
  #at = 5;

  constructor(block: ArrayBuffer) {
    this.#block = Buffer.from(block);
    this.facts = { isFull: this.#block[0] === 1, damagedRecords: this.#block.readUInt32LE(1) };
  }

  next(): StoreReply {
    const outcome = this.#block[this.#at++];
    const bytes = this.#bytes();
    const eventCount = this.#count();
    const body =
      outcome === OUTCOME.error ? { error: errorOf(bytes) } : outcome === OUTCOME.result ? { result: bytes } : {};
    if (eventCount === 0) return body;
    const events: StoreEvent[] = [];
    for (let index = 0; index < eventCount; index++) events.push(this.#event());
    return { ...body, events };
  }

  #event(): StoreEvent {
    const seq = this.#block.readDoubleLE(this.#at);
    const parts = this.#block[this.#at + 8] ?? 0;
    this.#at += 9;
    const kind = this.#bytes().toString('utf8');
    const place: string[] = [];
    for (let index = 0; index < parts; index++) place.push(this.#bytes().toString('utf8'));
    return { place, kind, seq, body: this.#bytes() };
  }

  #count(): number {
    this.#at += 4;
    return this.#block.readUInt32LE(this.#at - 4);
  }

  #bytes(): Buffer {
    const length = this.#count();
    this.#at += length;
    return this.#block.subarray(this.#at - length, this.#at);
  }
}

function outcomeBytes({ error, result }: StoreReply): Uint8Array {
  return error === undefined ? (result ?? EMPTY) : Buffer.from(JSON.stringify(error));
}

function errorOf(bytes: Buffer): ErrorBody {
  const { code, message }: ErrorBody = JSON.parse(bytes.toString('utf8'));
  return { code, message };
}

function eventLength({ kind, place, body }: StoreEvent): number {
  let length = 9 + 4 + Buffer.byteLength(kind) + 4 + body.length;
  for (const part of place) length += 4 + Buffer.byteLength(part);
  return length;
}

function writeEvent(writer: BlockWriter, { kind, place, seq, body }: StoreEvent): void {
  writer.number(seq);
  writer.byte(place.length);
  writer.text(kind);
  for (const part of place) writer.text(part);
  writer.bytes(body);
}

class BlockWriter {
  readonly #block: Buffer<ArrayBuffer>;
  #at = 0;

  constructor(length: number) {
    this.#block = Buffer.allocUnsafeSlow(length);
  }

  byte(value: number): void {
    this.#block[this.#at++] = value;
  }

  count(value: number): void {
    this.#at = this.#block.writeUInt32LE(value, this.#at);
  }

  number(value: number): void {
    this.#at = this.#block.writeDoubleLE(value, this.#at);
  }

  text(text: string): void {
    const length = this.#block.write(text, this.#at + 4, 'utf8');
    this.count(length);
    this.#at += length;
  }

  bytes(bytes: Uint8Array): void {
    this.count(bytes.length);
    this.#block.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  block(): ArrayBuffer {
    return this.#block.buffer;
  }
}
