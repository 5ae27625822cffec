// The items and messages of streams. A message for subscribers and triggers is built once for all of them (T6).

import { Refusal } from '../../../core/calls/refusal.ts';
import type { CommandContext, GroupRef, StoreEvent } from '../../thread/contract.ts';
import { JsonList, LIST_ENTRIES_MAX } from '../../thread/json-list.ts';

export interface ItemRef extends GroupRef {
  readonly item: string;
}

/** A whole group, or one item of it. */
export interface Subject extends GroupRef {
  readonly item: string | undefined;
}

export interface FoundItem {
  readonly id: string;
  /** JSON; may be a view of the store's memory. */
  readonly data: Uint8Array;
}

/** An object of JSON texts, as JSON. */
export function members(values: Readonly<Record<string, Uint8Array>>): Buffer {
  const parts = Object.entries(values).flatMap(([name, value], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}"${name}":`),
    value,
  ]);
  return Buffer.concat([...parts, CLOSE]);
}

export function jsonText(value: string | number | boolean | readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export const NULL = Buffer.from('null');
const CLOSE = Buffer.from('}');

export type EventKind = 'create' | 'update' | 'delete' | 'event';

/** The member `event` of a message. `payload`: the item's data; of a custom event, its type and data. */
export function eventText(kind: EventKind, payload: Uint8Array): Buffer {
  return kind === 'event' ? members({ type: EVENT, event: payload }) : members({ type: jsonText(kind), data: payload });
}

interface StreamMessage extends Subject {
  readonly seq: number;
  /** As JSON. */
  readonly event: Uint8Array;
}

type Moment = Pick<CommandContext, 'nowMs' | 'epoch'>;

/** The message of modules 4.4 with our `seq` and `epoch`. It begins with `{"type":"stream",`: see `triggerMessage`. */
export function messageText({ nowMs, epoch }: Moment, message: StreamMessage): Buffer {
  const { stream, group, item = null, seq, event } = message;
  const place = `"streamName":${JSON.stringify(stream)},"groupId":${JSON.stringify(group)}`;
  const order = `"seq":${seq},"epoch":${JSON.stringify(epoch)}`;
  const front = `{"type":"stream","timestamp":${nowMs},${place},"id":${JSON.stringify(item)},${order},"event":`;
  return Buffer.concat([Buffer.from(front), event, CLOSE]);
}

/** The payload of a trigger: the message, whose `type` is the kind of the event. */
export function triggerMessage({ kind, body }: StoreEvent, isDropIn: boolean): Uint8Array {
  if (isDropIn) return body;
  return Buffer.concat([Buffer.from(`{"type":"${kind}"`), body.subarray(MESSAGE_TYPE_BYTES)]);
}

/** The last of several events, for a subscriber that gets only that one and the number of events left out. */
export function conflatedMessage(body: Uint8Array, leftOut: number): Uint8Array {
  return Buffer.concat([body.subarray(0, -CLOSE.length), Buffer.from(`,"conflated":${leftOut}`), CLOSE]);
}

/** What every message begins with. */
const MESSAGE_TYPE_BYTES = '{"type":"stream"'.length;

/** The first message for a subscriber that missed only events that follow. */
export function recoveredEvent(moment: Moment, subject: Subject, since: number): StoreEvent {
  return syncEvent(moment, subject, since, members({ type: SYNC, recovered: TRUE }));
}

/** The content of a group or of one item. Throws the refusal of a group that is too large. */
export function snapshotEvent(moment: Moment, subject: Subject, seq: number, items: Iterable<FoundItem>): StoreEvent {
  const content = subject.item === undefined ? groupContent(subject, items) : itemContent(items);
  return syncEvent(moment, subject, seq, members({ type: SYNC, ...content, recovered: FALSE }));
}

/** Items to read for a snapshot: one more than the limit shows that the group is too large. */
export const SNAPSHOT_PAGE = { offset: 0, limit: undefined, limitOrOneMore: LIST_ENTRIES_MAX + 1 };

/** The items alone do not contain their names. */
function groupContent({ group }: GroupRef, items: Iterable<FoundItem>) {
  const data = new JsonList('the subscription', SNAPSHOT_PAGE);
  const ids = new JsonList('the subscription', SNAPSHOT_PAGE);
  try {
    for (const found of items) {
      data.add(Buffer.from(found.data));
      ids.add(jsonText(found.id));
    }
  } catch (error) {
    // A list can be paged; a snapshot is one moment.
    if (error instanceof Refusal)
      throw new Refusal(error.code, `Group ${group} is too large. Subscribe to single items`);
    throw error;
  }
  return { data: data.end(), ids: ids.end() };
}

function itemContent(items: Iterable<FoundItem>) {
  const [found] = items;
  return { data: found === undefined ? NULL : Buffer.from(found.data) };
}

function syncEvent(moment: Moment, subject: Subject, seq: number, event: Buffer): StoreEvent {
  const { stream, group, item = '' } = subject;
  return { path: [stream, group, item], kind: 'sync', seq, body: messageText(moment, { ...subject, seq, event }) };
}

const SYNC = jsonText('sync');
const EVENT = jsonText('event');
const TRUE = jsonText(true);
const FALSE = jsonText(false);
