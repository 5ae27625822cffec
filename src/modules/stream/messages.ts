// The messages of a client (modules 4.3): `join` and `leave`, and `ping`, because browsers hide real ones from the
// page; and those that the server creates itself. Messages about items and events come complete from the store (T6).
// Pure.

import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../core/calls/refusal.ts';
import { validateStreamClientMessage } from '../../generated/module-payloads.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { mismatchText } from '../../protocol/json/expected-text.ts';
import type { StoreEvent } from '../../store/thread/contract.ts';
import { PreparedTexts } from '../../transport/server-frames.ts';
import type { JoinRequest } from './target.ts';

export interface StreamClientMessage {
  readonly type: 'join' | 'leave';
  readonly data: {
    readonly subscriptionId: string;
    readonly streamName: string;
    readonly groupId: string;
    /** Narrows the subscription to one item. */
    readonly id?: string | null;
    /** Of the last message seen: the events missed since then are requested (T4). */
    readonly epoch?: string | null;
    readonly seq?: number | null;
    /** If the client is too slow, the newest of several events of an item is enough (T5). */
    readonly conflate?: boolean | null;
  };
}

export type ClientMessage = { readonly type: 'join' | 'leave'; readonly join: JoinRequest } | { readonly type: 'ping' };

/** `undefined`: nothing but white space, which clients send to keep a connection open. */
export function readClientMessage(bytes: Uint8Array): ClientMessage | Refusal | undefined {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(raw)) return new Refusal('BAD_REQUEST', 'The message is not UTF-8 text');
  const text = raw.toString('utf8');
  if (text.trim() === '') return undefined;
  const message = parsed(text);
  if (isPing(message)) return PING;
  const verdict = validateStreamClientMessage(message);
  if (!verdict.success) {
    const [first] = verdict.errors;
    const field = first === undefined || first.path === '$input' ? 'It' : `'${first.path.replace(/^\$input\.?/, '')}'`;
    const rule = `${field} ${first === undefined ? 'has an unknown shape' : mismatchText(first.expected, first.value)}`;
    return new Refusal('BAD_REQUEST', `Expected a join or a leave message in JSON. ${rule}`);
  }
  return checked(verdict.data);
}

const PING = { type: 'ping' } as const;

function isPing(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ping';
}

function checked({ type, data }: StreamClientMessage): ClientMessage | Refusal {
  const { subscriptionId, streamName, groupId } = data;
  const item = data.id || undefined;
  const named = { subscriptionId, streamName, groupId, ...(item !== undefined && { id: item }) };
  for (const [field, name] of Object.entries(named)) {
    const offence = idOffence(name);
    if (offence !== undefined) return new Refusal('BAD_REQUEST', `'data.${field}' ${offence}`);
  }
  const { epoch, seq } = data;
  if (typeof epoch === 'string' && typeof seq === 'number' && (!Number.isSafeInteger(seq) || seq < 0)) {
    return new Refusal('BAD_REQUEST', `'data.seq' must be a whole number from 0 up, found ${seq}`);
  }
  const since = typeof epoch === 'string' && typeof seq === 'number' ? { epoch, seq } : undefined;
  const conflate = data.conflate ?? false;
  return { type, join: { subscriptionId, stream: streamName, group: groupId, item, since, conflate } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Reported to the client like any other wrong shape.
    return undefined;
  }
}

/** The subject of a message; a malformed message has none. */
export interface MessageSubject {
  readonly subscriptionId?: string;
  readonly stream?: string;
  readonly group?: string;
  readonly item?: string | undefined;
}

export function errorMessage(nowMs: number, subject: MessageSubject, { code, message }: ErrorBody): Buffer {
  const { subscriptionId } = subject;
  const data = { code, message, ...(subscriptionId !== undefined && { subscriptionId }) };
  return serverMessage(nowMs, subject, { type: 'error', data });
}

/** A `stream:join` handler refused. */
export function unauthorizedMessage(nowMs: number, subject: MessageSubject): Buffer {
  return serverMessage(nowMs, subject, { type: 'unauthorized' });
}

function serverMessage(nowMs: number, { stream, group, item }: MessageSubject, event: object): Buffer {
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
