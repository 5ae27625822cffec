// The items of a group, and its events: numbered, and kept for a while for those who come back (T4).
//
// Invariants:
//   H1  What is kept is an unbroken run of numbers up to the last event.
//   H2  A group with something kept has a `d` record, by which `sweep.ts` finds it when nobody writes any more.

import type { CommandWorld, StoreEvent } from '../contract.ts';
import type { Kv, KvReader } from '../kv.ts';
import { type GroupHead, headOrNew, writeHead } from './group-head.ts';
import { dueKey, eventKey, itemKey } from './keys.ts';
import { type EventKind, eventText, messageText } from './messages.ts';
import type { ItemPlace, Subject } from './place.ts';

/** What an event is about; without an item it is a custom event to the whole group. */
export interface NewEvent extends Subject {
  readonly kind: EventKind;
  /** As `eventText` wants it. */
  readonly payload: Buffer;
  /** How many items more or fewer the group has by it. */
  readonly itemsChange: -1 | 0 | 1;
}

/** Numbers the event, keeps it, and returns it as it will be sent. */
export function appendEvent(kv: Kv, world: CommandWorld, what: NewEvent): StoreEvent {
  const { stream, group, item = '', kind, payload } = what;
  const head = headOrNew(kv, stream, group);
  head.seq += 1;
  head.items += what.itemsChange;
  const body = messageText(world, { ...what, seq: head.seq, event: eventText(kind, payload) });
  const event: StoreEvent = { place: [stream, group, item], kind, seq: head.seq, body };
  keep(kv, world, head, event);
  if (head.dueMs === 0 && (head.oldestKept <= head.seq || head.items === 0)) {
    head.dueMs = world.nowMs + world.limits.streamHistoryMs;
    kv.put(dueKey(head.dueMs, stream, group), NOTHING);
  }
  writeHead(kv, stream, group, head);
  return event;
}

/** A copy: what a store gives out is valid until the next change only. */
export function readItem(kv: KvReader, { stream, group, item }: ItemPlace): Buffer | undefined {
  const found = kv.get(itemKey(stream, group, item));
  return found === undefined ? undefined : Buffer.from(found);
}

/** The kept events from that number on. */
export function eventsFrom(kv: KvReader, stream: string, group: string, first: number): StoreEvent[] {
  const range = { start: eventKey(stream, group, first), end: eventKey(stream, group, Number.MAX_SAFE_INTEGER) };
  const events: StoreEvent[] = [];
  for (const { value } of kv.range(range.start, range.end)) {
    const record = decodeRecord(value);
    const { item, kind, body } = record;
    events.push({ place: [stream, group, item], kind, seq: first + events.length, body });
  }
  return events;
}

/** Lets go of what is too old. Returns when the oldest that is left will be; `undefined` if nothing is. */
export function dropAged(
  kv: Kv,
  { nowMs, limits }: CommandWorld,
  stream: string,
  group: string,
  head: GroupHead,
): number | undefined {
  while (head.oldestKept <= head.seq) {
    const atMs = oldestAtMs(kv, stream, group, head);
    if (atMs > nowMs - limits.streamHistoryMs) return atMs + limits.streamHistoryMs;
    dropOldest(kv, stream, group, head);
  }
  return undefined;
}

function keep(kv: Kv, world: CommandWorld, head: GroupHead, event: StoreEvent): void {
  const [stream = '', group = ''] = event.place;
  const record = encodeRecord(world.nowMs, event);
  kv.put(eventKey(stream, group, event.seq), record);
  head.keptBytes += record.length;
  while (head.oldestKept <= head.seq && isOver(kv, world, stream, group, head)) dropOldest(kv, stream, group, head);
}

function isOver(
  kv: KvReader,
  { nowMs, limits }: CommandWorld,
  stream: string,
  group: string,
  head: GroupHead,
): boolean {
  const { streamHistoryBytes, streamHistoryEvents, streamHistoryMs } = limits;
  if (head.keptBytes > streamHistoryBytes || head.seq - head.oldestKept >= streamHistoryEvents) return true;
  return oldestAtMs(kv, stream, group, head) <= nowMs - streamHistoryMs;
}

function oldestAtMs(kv: KvReader, stream: string, group: string, { oldestKept }: GroupHead): number {
  const record = kv.get(eventKey(stream, group, oldestKept));
  return record === undefined ? 0 : viewOf(record).getFloat64(0);
}

function dropOldest(kv: Kv, stream: string, group: string, head: GroupHead): void {
  const key = eventKey(stream, group, head.oldestKept);
  head.keptBytes -= kv.get(key)?.length ?? 0;
  kv.remove(key);
  head.oldestKept += 1;
}

/** Time in 8 bytes; lengths of kind and item in a byte and two; kind, item, message. */
function encodeRecord(nowMs: number, { place, kind, body }: StoreEvent): Buffer {
  const item = Buffer.from(place[2] ?? '');
  const front = Buffer.alloc(FRONT_BYTES);
  front.writeDoubleBE(nowMs, 0);
  front.writeUInt8(kind.length, 8);
  front.writeUInt16BE(item.length, 9);
  return Buffer.concat([front, Buffer.from(kind), item, body]);
}

function decodeRecord(record: Uint8Array): { kind: string; item: string; body: Uint8Array } {
  // A copy: the store's own memory is valid until the command returns only.
  const bytes = Buffer.from(record);
  const kindEnd = FRONT_BYTES + bytes.readUInt8(8);
  const itemEnd = kindEnd + bytes.readUInt16BE(9);
  return {
    kind: bytes.toString('utf8', FRONT_BYTES, kindEnd),
    item: bytes.toString('utf8', kindEnd, itemEnd),
    body: bytes.subarray(itemEnd),
  };
}

function viewOf(record: Uint8Array): DataView {
  return new DataView(record.buffer, record.byteOffset, record.byteLength);
}

const FRONT_BYTES = 11;
const NOTHING = new Uint8Array(0);
