// The messages between the router's thread and the store's thread (`workers/store.ts`): tasks, and for the task `batch`
// the commands of one turn as one block of bytes, and their answers as another. Numbers are little-endian. Both ends
// have the same version, so neither validates what it reads. Blocks are transferred, not copied: each batch has its
// own.
//
// The commands:
//   u32 count · u32 bytes used · f64 time of day · f64 the monotonic clock, whole milliseconds
//   and for each command: u8 its index in the table · u8 flags · u32 length of the input · input
//   and if the flags say so: u32 length of the trace · trace
//
// The answers:
//   u8 whether the disk is nearly full · u32 damaged records that were met
//   and for each command: u8 outcome · u32 length · result, or error as JSON · u32 events
//   and for each event: f64 seq · u8 segments of its path · kind · segments · body, each preceded by its u32 length

import type { MessagePort } from 'node:worker_threads';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { StoreEvent, StoreLimits, StoreReply } from './contract.ts';

export type StoreLocation =
  | {
      readonly kind: 'directory';
      readonly folder: string;
      /** In place of the usual reserve of free space (D4). */
      readonly reserveBytes: number | undefined;
      /** Accept any file system, even one that is not of this machine (D7). */
      readonly anyFileSystem: boolean;
    }
  | { readonly kind: 'memory' };

export interface StoreOpening {
  readonly location: StoreLocation;
  readonly isDropIn: boolean;
  readonly limits: StoreLimits;
  /** A unique name: of this run of the engine, and of this incarnation of the store if it is new. */
  readonly newEpoch: string;
}

/** The replies as one block, or why there are none and never will be. */
export type BatchAnswer = ArrayBuffer | { readonly failure: string };

export type StoreTask =
  | { readonly kind: 'open'; readonly opening: StoreOpening }
  | { readonly kind: 'batch'; readonly batch: ArrayBuffer }
  /** Batches come from there, too: see `port-worker.ts`. */
  | { readonly kind: 'attach'; readonly port: MessagePort }
  | { readonly kind: 'clearReaders' }
  | { readonly kind: 'copy'; readonly folder: string }
  | { readonly kind: 'close' };

export type StoreAnswer =
  /** Of a batch: its replies, or why it has none. */
  | BatchAnswer
  /** The answer to opening. */
  | { readonly epoch: string }
  /** Why the store cannot be opened, or copied. */
  | { readonly refusal: string }
  | { readonly done: true };

export const BATCH_HEADER_BYTES = 24;
export const COMMAND_HEADER_BYTES = 6;
const COMMAND_FLAG = { wantsEvents: 1, hasTrace: 2 } as const;
const TRACE_HEADER_BYTES = 4;

/** The bytes that a command takes in a batch. */
export function commandBytes(input: Uint8Array, trace: Uint8Array | undefined): number {
  const traceBytes = trace === undefined ? 0 : TRACE_HEADER_BYTES + trace.length;
  return COMMAND_HEADER_BYTES + input.length + traceBytes;
}

const FIRST_BLOCK_BYTES = 16 * 1024;

/** The time at which a batch leaves, by both clocks. */
interface BatchMoment {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Gathers the commands of a turn on the router's thread. */
export class BatchWriter {
  #block: Buffer<ArrayBuffer> = Buffer.alloc(0);
  #used = BATCH_HEADER_BYTES;
  #count = 0;
  /** New blocks are as large as the last ones became. */
  #usualBytes = FIRST_BLOCK_BYTES;

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#used;
  }

  /** Adds the whole command or, if memory ends, nothing of it: half of one would be read as another. */
  add(command: number, wantsEvents: boolean, input: Uint8Array, trace?: Uint8Array): void {
    this.#ensureCapacity(commandBytes(input, trace));
    const block = this.#block;
    block[this.#used] = command;
    const hasTrace = trace === undefined ? 0 : COMMAND_FLAG.hasTrace;
    block[this.#used + 1] = (wantsEvents ? COMMAND_FLAG.wantsEvents : 0) | hasTrace;
    block.writeUInt32LE(input.length, this.#used + 2);
    block.set(input, this.#used + COMMAND_HEADER_BYTES);
    this.#used += COMMAND_HEADER_BYTES + input.length;
    this.#count++;
    if (trace === undefined) return;
    block.writeUInt32LE(trace.length, this.#used);
    block.set(trace, this.#used + TRACE_HEADER_BYTES);
    this.#used += TRACE_HEADER_BYTES + trace.length;
  }

  /** The batch, and an empty writer. */
  take({ nowMs, monotonicMs }: BatchMoment): ArrayBuffer {
    this.#block.writeUInt32LE(this.#count, 0);
    this.#block.writeUInt32LE(this.#used, 4);
    this.#block.writeDoubleLE(nowMs, 8);
    this.#block.writeDoubleLE(Math.floor(monotonicMs), 16);
    const taken = this.#block.buffer;
    this.#usualBytes = Math.max(FIRST_BLOCK_BYTES, Math.min(this.#used * 2, USUAL_BYTES_MAX));
    this.#block = Buffer.alloc(0);
    this.#used = BATCH_HEADER_BYTES;
    this.#count = 0;
    return taken;
  }

  #ensureCapacity(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#block.length) return;
    const size = Math.max(this.#usualBytes, this.#block.length * 2, needed);
    // A block of its own, because it is transferred; not from Node's pool, which other code uses too.
    const grown = Buffer.allocUnsafeSlow(size);
    this.#block.copy(grown, 0, 0, this.#used);
    this.#block = grown;
  }
}

const USUAL_BYTES_MAX = 1024 * 1024;

/** Reads what `BatchWriter` wrote, on the store's thread. */
export class BatchReader {
  readonly count: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
  readonly bytes: number;
  readonly #block: Buffer;
  #at = BATCH_HEADER_BYTES;
  /** The command that `next` moved to. */
  command = 0;
  wantsEvents = false;
  input: Buffer = Buffer.alloc(0);
  trace: string | undefined;

  constructor(batch: ArrayBuffer) {
    this.#block = Buffer.from(batch);
    this.count = this.#block.readUInt32LE(0);
    this.bytes = this.#block.readUInt32LE(4);
    this.nowMs = this.#block.readDoubleLE(8);
    this.monotonicMs = this.#block.readDoubleLE(16);
  }

  next(): void {
    const block = this.#block;
    this.command = block[this.#at] ?? 0;
    const flags = block[this.#at + 1] ?? 0;
    this.wantsEvents = (flags & COMMAND_FLAG.wantsEvents) !== 0;
    const start = this.#at + COMMAND_HEADER_BYTES;
    this.#at = start + block.readUInt32LE(this.#at + 2);
    this.input = block.subarray(start, this.#at);
    this.trace = (flags & COMMAND_FLAG.hasTrace) === 0 ? undefined : this.#readTrace();
  }

  #readTrace(): string {
    const start = this.#at + TRACE_HEADER_BYTES;
    this.#at = start + this.#block.readUInt32LE(this.#at);
    return this.#block.toString('utf8', start, this.#at);
  }

  /** Back to the first command: a transaction that found no room is run again. */
  rewind(): void {
    this.#at = BATCH_HEADER_BYTES;
  }
}

const OUTCOME = { result: 0, nothing: 1, error: 2 } as const;
const EMPTY = Buffer.alloc(0);

interface BatchOutcome {
  readonly isFull: boolean;
  readonly damagedRecords: number;
}

export function encodeReplies(replies: readonly StoreReply[], outcome: BatchOutcome): ArrayBuffer {
  const texts = replies.map((reply) => outcomeBytes(reply));
  let length = 5;
  for (let index = 0; index < replies.length; index++) {
    length += 9 + (texts[index]?.length ?? 0);
    for (const event of replies[index]?.events ?? []) length += eventLength(event);
  }
  const writer = new BlockWriter(length);
  writer.byte(outcome.isFull ? 1 : 0);
  writer.count(outcome.damagedRecords);
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
  readonly outcome: BatchOutcome;
  readonly #block: Buffer;
  #at = 5;

  constructor(block: ArrayBuffer) {
    this.#block = Buffer.from(block);
    this.outcome = { isFull: this.#block[0] === 1, damagedRecords: this.#block.readUInt32LE(1) };
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
    const path: string[] = [];
    for (let index = 0; index < parts; index++) path.push(this.#bytes().toString('utf8'));
    return { path, kind, seq, body: this.#bytes() };
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

function eventLength({ kind, path, body }: StoreEvent): number {
  let length = 9 + 4 + Buffer.byteLength(kind) + 4 + body.length;
  for (const part of path) length += 4 + Buffer.byteLength(part);
  return length;
}

function writeEvent(writer: BlockWriter, { kind, path, seq, body }: StoreEvent): void {
  writer.number(seq);
  writer.byte(path.length);
  writer.text(kind);
  for (const part of path) writer.text(part);
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
