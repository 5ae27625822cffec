// An event as it lies in the history of a group and as it is published, there with the epoch in front: number, kind,
// time, name of the write and item, one line each (names contain no line feeds), and its payload as JSON.
//
// Every engine that needs the message for subscribers builds it once.

import { type EventKind, eventText, messageText } from '../commands/stream/messages.ts';
import type { GroupRef, StoreEvent } from '../thread/contract.ts';
import { corrupt, linesOf, wholeNumber } from './record.ts';

/** The position of a group. */
export interface Position {
  readonly epoch: string;
  readonly seq: number;
  /** The write that caused the last event. A store that was set back has other writes under the same numbers. */
  readonly tag: string;
}

export interface RecordedEvent {
  readonly at: Position;
  /** Built on demand: most published events were already passed on with the answer of a write. */
  readonly event: StoreEvent;
}

export interface HistoryEvent {
  readonly at: Position;
  readonly kind: EventKind;
  readonly nowMs: number;
  /** Empty: none. */
  readonly item: string;
  readonly payload: Buffer;
}

export function storeEvent({ stream, group }: GroupRef, stored: HistoryEvent): StoreEvent {
  const { at, kind, nowMs, item, payload } = stored;
  const { epoch, seq } = at;
  const message = { stream, group, item: item === '' ? undefined : item, seq, event: eventText(kind, payload) };
  return { path: [stream, group, item], kind, seq, body: messageText({ nowMs, epoch }, message) };
}

/** An entry of the history. */
export function readEntry(ref: GroupRef, epoch: string, entry: Buffer): RecordedEvent {
  const { lines, rest } = linesOf(entry, 5);
  const [seq = '', kind, nowMs = '', tag = '', item = ''] = lines;
  const at = { epoch, seq: wholeNumber(seq), tag };
  const stored = { at, kind: kindIn(kind), nowMs: wholeNumber(nowMs), item, payload: rest };
  return {
    at,
    get event() {
      return storeEvent(ref, stored);
    },
  };
}

/** A message of the channel. */
export function readMessage(ref: GroupRef, message: Buffer): RecordedEvent {
  const { lines, rest } = linesOf(message, 1);
  return readEntry(ref, lines[0] ?? '', rest);
}

const KINDS: readonly EventKind[] = ['create', 'update', 'delete', 'event'];

export function kindIn(text: string | undefined): EventKind {
  const kind = KINDS.find((word) => word === text);
  if (kind === undefined) throw corrupt('an event of an unknown kind');
  return kind;
}
