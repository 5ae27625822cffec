// The items of a group and its events. Events are numbered and kept for a while, for subscribers that reconnect (T4).
//
// A write trims the history of its own group. `stream.sweep` finds a silent group by its due time, so that an empty one
// costs nothing after a while.
//
// Invariants:
//   - The kept events are a run of numbers without gaps up to the last event.
//   - A group with kept events has a `d` record, by which `stream.sweep` finds it when it is no longer written to.

import type { Kv, KvReader } from '../../kv/kv.ts';
import type { CommandContext, StoreCommand, StoreEvent } from '../../thread/contract.ts';
import { type GroupHead, headOrNew, raiseFloor, readHead, writeHead } from './group-head.ts';
import { dueKey, dueNames, duesUntil, eventKey, headKey, itemKey } from './keys.ts';
import { type EventKind, eventText, type ItemRef, messageText, type Subject } from './messages.ts';

/** What an event is about; without an item it is a custom event for the whole group. */
interface NewEvent extends Subject {
  readonly kind: EventKind;
  /** In the form that `eventText` takes. */
  readonly payload: Buffer;
  /** The change of the group's number of items. */
  readonly itemsChange: -1 | 0 | 1;
}

/** Numbers the event, keeps it, and returns it in the form in which it is sent. */
export function appendEvent(kv: Kv, context: CommandContext, what: NewEvent): StoreEvent {
  const { stream, group, item = '', kind, payload } = what;
  const head = headOrNew(kv, stream, group);
  head.seq += 1;
  head.items += what.itemsChange;
  const body = messageText(context, { ...what, seq: head.seq, event: eventText(kind, payload) });
  const event: StoreEvent = { path: [stream, group, item], kind, seq: head.seq, body };
  keep(kv, context, head, event);
  if (head.dueMs === 0 && (head.oldestKept <= head.seq || head.items === 0)) {
    head.dueMs = context.nowMs + context.limits.streamHistoryMs;
    kv.put(dueKey(head.dueMs, stream, group), NOTHING);
  }
  writeHead(kv, stream, group, head);
  return event;
}

/** A copy, because views into a store are valid only until the next change. */
export function readItem(kv: KvReader, { stream, group, item }: ItemRef): Buffer | undefined {
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
    events.push({ path: [stream, group, item], kind, seq: first + events.length, body });
  }
  return events;
}

/** Removes events that are too old. Returns when the oldest remaining one will be; `undefined` if none remains. */
function dropAged(
  kv: Kv,
  { nowMs, limits }: CommandContext,
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

function keep(kv: Kv, context: CommandContext, head: GroupHead, event: StoreEvent): void {
  const [stream = '', group = ''] = event.path;
  const record = encodeRecord(context.nowMs, event);
  kv.put(eventKey(stream, group, event.seq), record);
  head.keptBytes += record.length;
  while (head.oldestKept <= head.seq && isOver(kv, context, stream, group, head)) dropOldest(kv, stream, group, head);
}

function isOver(
  kv: KvReader,
  { nowMs, limits }: CommandContext,
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
function encodeRecord(nowMs: number, { path, kind, body }: StoreEvent): Buffer {
  const item = Buffer.from(path[2] ?? '');
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

/** Removes history that is no longer written to. An internal command. */
export const streamSweep: StoreCommand = {
  name: 'stream.sweep',
  isWrite: true,
  usesReserve: true,
  run(kv, _input, context) {
    const { start, end } = duesUntil(context.nowMs);
    // The keys are copied first: the range is valid only until the first change.
    const due = [...kv.range(start, end, { limit: SWEEP_GROUPS_MAX })].map(({ key }) => Buffer.from(key));
    let swept = 0;
    for (let dropped = 0; swept < due.length && dropped < SWEEP_EVENTS_MAX; swept++) {
      const key = due[swept] ?? NOTHING;
      kv.remove(key);
      const [stream = '', group = ''] = dueNames(key);
      dropped += sweepGroup(kv, context, stream, group);
    }
    return { result: sweptResult(swept) };
  },
};

export function sweptResult(groups: number): Buffer {
  return Buffer.from(JSON.stringify({ swept: groups }));
}

/** The answer when there is nothing to do for now. */
export const SWEPT_NOTHING = sweptResult(0).toString();
/** The limits of one run, in groups and in events removed before the last of them: other commands wait for it. */
const SWEEP_GROUPS_MAX = 500;
const SWEEP_EVENTS_MAX = 5_000;

/** Returns how many events it removed. */
function sweepGroup(kv: Kv, context: CommandContext, stream: string, group: string): number {
  const head = readHead(kv, stream, group);
  if (head === undefined) return 0;
  const { oldestKept } = head;
  head.dueMs = dropAged(kv, context, stream, group, head) ?? 0;
  if (head.dueMs > 0) kv.put(dueKey(head.dueMs, stream, group), NOTHING);
  if (head.dueMs > 0 || head.items > 0) {
    writeHead(kv, stream, group, head);
    return head.oldestKept - oldestKept;
  }
  // If the group is used again, its numbers continue above the old ones.
  raiseFloor(kv, head.seq);
  kv.remove(headKey(stream, group));
  return head.oldestKept - oldestKept;
}
