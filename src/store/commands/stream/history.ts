// The items of a group and its events. Events are numbered and kept for a while, for subscribers that come back (T4).
//
// Invariants:
//   - The kept events are a run of numbers without gaps up to the last event.
//   - A group with kept events has a `d` record, by which `sweep.ts` finds it when it is no longer written to.

import type { Kv, KvReader } from '../../kv/kv.ts';
import type { CommandWorld, StoreEvent } from '../../thread/contract.ts';
import { type GroupHead, headOrNew, writeHead } from './group-head.ts';
import { dueKey, eventKey, itemKey } from './keys.ts';
import { type EventKind, eventText, messageText } from './messages.ts';
import type { ItemPlace, Subject } from './place.ts';

/** What an event is about; without an item it is a custom event for the whole group. */
export interface NewEvent extends Subject {
  readonly kind: EventKind;
  /** In the form that `eventText` takes. */
  readonly payload: Buffer;
  /** The change of the group's number of items. */
  readonly itemsChange: -1 | 0 | 1;
}

/** Numbers the event, keeps it, and returns it in the form in which it is sent. */
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

/** A copy, because views into a store are valid only until the next change. */
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

/** Removes events that are too old. Returns when the oldest remaining one will be; `undefined` if none remains. */
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
  // A copy: the store's own memory is valid only until the command returns.
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
