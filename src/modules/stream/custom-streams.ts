// Streams that a worker keeps itself: if it registers `stream::get(<stream>)` and similar functions, the engine calls
// those instead of its own store (wire 3.1). Their changes are numbered and sent to subscribers like any others.
//
// The engine cannot lock such a stream: its snapshot is read after the number is taken, so that an event may be in
// both, and none is lost.

import type { Access } from '../../core/access/access.ts';
import type { Logger } from '../../effects/logger.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import {
  asByteString,
  type ByteString,
  byteStringToText,
  parseRawJson,
  RAW_NULL,
  type RawJson,
  rawJson,
} from '../../protocol/json/byte-string.ts';
import { findTextMember, rawMember } from '../../protocol/json/json-member.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Cause } from '../../router/builtin.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Store, StoreEvent, StoreReply } from '../../store/thread/contract.ts';

export class CustomStreams {
  readonly #router: RouterPort;
  readonly #store: Store;
  readonly #logger: Logger;

  constructor(router: RouterPort, store: Store, logger: Logger) {
    this.#router = router;
    this.#store = store;
    this.#logger = logger;
  }

  /** The function that replaces one of ours, if the stream in the payload has one. */
  standIn(functionId: string, payload: Uint8Array): string | undefined {
    const stream = findTextMember(payload, 'stream_name');
    return stream === undefined ? undefined : this.standInFor(functionId, stream);
  }

  standInFor(functionId: string, stream: string): string | undefined {
    const id = `${functionId}(${stream})`;
    return this.#router.functionEntry(id) === undefined ? undefined : id;
  }

  /** Calls it; the callback gets the event of a change once it is durable, before `done`. */
  call(
    standIn: string,
    { functionId, input, depth, traceparent, baggage, rights }: CustomCall,
    changed: (events: readonly StoreEvent[]) => void,
    done: (outcome: Outcome) => void,
  ): void {
    // The input is a view of a message; its text is a copy.
    const text = Payload.ofBytes(input, 0, input.length).asText();
    const payload = Payload.ofText(text ?? rawJson(null));
    this.#router.call({ functionId: standIn, payload, depth, traceparent, baggage, rights }, (outcome) => {
      const change = outcome.error === undefined ? changeOf(functionId, text, outcome) : undefined;
      if (change === undefined) {
        done(outcome);
        return;
      }
      const result = outcome.result?.asText();
      this.#store.run('stream.announce', Buffer.from(change, 'latin1'), (reply) => {
        const { error, events = [], result: missing } = reply;
        if (missing !== undefined) this.#noteMissing(standIn, missing);
        changed(events);
        if (error !== undefined) done({ error: Payload.ofText(rawJson(error)) });
        else done(result === undefined ? {} : { result: Payload.ofText(result) });
      });
    });
  }

  /** The worker has made the change: it can no longer be refused. */
  #noteMissing(standIn: string, reasons: Uint8Array): void {
    for (const reason of Buffer.from(reasons).toString().split('\n')) {
      this.#router.count('triggers.jobs_missing');
      this.#logger.error('A change of a custom stream has no job: its queue did not take it', {
        function_id: standIn,
        reason,
      });
    }
  }

  /** The snapshot of a custom stream replaces that of the store, which has the number and the events. */
  snapshot(standIn: string, subject: SnapshotSubject, reply: StoreReply, done: (reply: StoreReply) => void): void {
    const [sync] = reply.events ?? [];
    if (reply.error !== undefined || sync === undefined || isRecovered(sync)) {
      done(reply);
      return;
    }
    const { stream, group, item } = subject;
    const names = { stream_name: stream, group_id: group, ...(item !== undefined && { item_id: item }) };
    const payload = Payload.ofText(rawJson(names));
    this.#router.call({ functionId: standIn, payload, depth: 0 }, (outcome) => {
      const failure = outcome.error?.asText();
      if (failure !== undefined) done({ error: errorOf(standIn, failure) });
      else done({ ...reply, events: [withData(sync, subject, outcome.result?.asText())] });
    });
  }
}

export interface CustomCall extends Cause {
  readonly functionId: string;
  readonly input: Buffer;
  /** The caller's rights: they must include the replacing function too (X7). */
  readonly rights: Access | undefined;
}

export interface SnapshotSubject {
  readonly stream: string;
  readonly group: string;
  readonly item: string | undefined;
}

/**
 * The change of a custom stream's function, from its answer: `{old_value, new_value}` as ours return. Returned as the
 * input of `stream.announce`; values are copied digit for digit.
 */
function changeOf(functionId: string, asked: RawJson | undefined, { result }: Outcome): ByteString | undefined {
  if (!CHANGING.has(functionId) || asked === undefined) return undefined;
  const answer = result?.asText() ?? RAW_NULL;
  const old = rawMember(answer, 'old_value') ?? RAW_NULL;
  if (functionId !== 'stream::delete') {
    const data = rawMember(answer, 'new_value') ?? rawMember(asked, 'data') ?? RAW_NULL;
    return announcement(asked, old === RAW_NULL ? 'create' : 'update', data);
  }
  return old === RAW_NULL ? undefined : announcement(asked, 'delete', old);
}

function announcement(asked: RawJson, kind: 'create' | 'update' | 'delete', data: RawJson): ByteString {
  const names = ['stream_name', 'group_id', 'item_id'].map((name) => `"${name}":${rawMember(asked, name) ?? RAW_NULL}`);
  return asByteString(`{${names.join(',')},"kind":"${kind}","data":${data}}`);
}

const CHANGING: ReadonlySet<string> = new Set(['stream::set', 'stream::update', 'stream::delete']);

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** All missed events are known: there is no snapshot to replace. */
function isRecovered({ body }: StoreEvent): boolean {
  const { event } = fieldsOf(JSON.parse(Buffer.from(body).toString('utf8')));
  return fieldsOf(event).recovered === true;
}

function withData(sync: StoreEvent, { item }: SnapshotSubject, answer: RawJson | undefined): StoreEvent {
  const data = unwrapped(answer ?? RAW_NULL, item === undefined ? 'group' : 'value');
  const { event: _ours, ...message } = fieldsOf(JSON.parse(Buffer.from(sync.body).toString('utf8')));
  const text = `${rawJson(message).slice(0, -1)},"event":{"type":"sync","data":${data},"recovered":false}}`;
  return { ...sync, body: Buffer.from(text, 'latin1') };
}

/**
 * Accepts lists bare or as `{group}`, and values bare or as `{value}`, as the two modes of the engine return them. A
 * bare item may have a field of that name; only an answer in our form has it alone.
 */
function unwrapped(answer: RawJson, name: 'group' | 'value'): RawJson {
  const names = Object.keys(fieldsOf(parseRawJson(answer)));
  return (names.length === 1 && rawMember(answer, name)) || answer;
}

function errorOf(standIn: string, error: RawJson): ErrorBody {
  return { code: 'invocation_failed', message: `${standIn} failed: ${byteStringToText(error).slice(0, 300)}` };
}
