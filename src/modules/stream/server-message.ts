// Messages that the server creates itself; those about items and events come complete from the store (T6).

import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { StoreEvent } from '../../store/thread/contract.ts';
import { PreparedTexts } from '../../transport/server-frames.ts';

/** The subject of a message; a malformed message has none. */
export interface MessagePlace {
  readonly subscriptionId?: string;
  readonly stream?: string;
  readonly group?: string;
  readonly item?: string | undefined;
}

export function errorMessage(nowMs: number, place: MessagePlace, { code, message }: ErrorBody): Buffer {
  const { subscriptionId } = place;
  const data = { code, message, ...(subscriptionId !== undefined && { subscriptionId }) };
  return serverMessage(nowMs, place, { type: 'error', data });
}

/** A `stream:join` handler refused. */
export function unauthorizedMessage(nowMs: number, place: MessagePlace): Buffer {
  return serverMessage(nowMs, place, { type: 'unauthorized' });
}

function serverMessage(nowMs: number, { stream, group, item }: MessagePlace, event: object): Buffer {
  const names = { streamName: stream ?? '', groupId: group ?? '', id: item ?? null };
  return Buffer.from(JSON.stringify({ type: 'stream', timestamp: nowMs, ...names, event }));
}

/**
 * The messages of one turn as they are sent: each as a frame of its own or, for clients that chose `svc.stream.v1`, all
 * of them as one JSON array in one frame. Each form is built once for all receivers.
 */
export class Batch {
  readonly count: number;
  readonly #messages: readonly Uint8Array[];
  #plain: PreparedTexts | undefined;
  #joined: PreparedTexts | undefined;

  constructor(messages: readonly Uint8Array[]) {
    this.#messages = messages;
    this.count = messages.length;
  }

  texts(isBatched: boolean): PreparedTexts {
    if (isBatched) {
      this.#joined ??= new PreparedTexts([jsonArray(this.#messages)]);
      return this.#joined;
    }
    this.#plain ??= new PreparedTexts(this.#messages);
    return this.#plain;
  }
}

/** Events in the form for subscribers that get each of them. */
export class EventBatch extends Batch {
  readonly events: readonly StoreEvent[];

  constructor(events: readonly StoreEvent[]) {
    super(events.map(({ body }) => body));
    this.events = events;
  }
}

/** For a client that cannot see real pongs. */
export const PONG = new Batch([Buffer.from('{"type":"pong"}')]);

function jsonArray(messages: readonly Uint8Array[]): Buffer {
  const parts = messages.flatMap((message, index) => [index === 0 ? OPEN : COMMA, message]);
  return Buffer.concat([...parts, CLOSE]);
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
