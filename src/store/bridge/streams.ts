// Streams in another engine. This engine numbers the events of the groups that it follows itself, from the moment it
// begins to follow them; after the other engine was away, subscribers read their group again.

import { asRawJson, parseRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { rawMember } from '../../protocol/json/json-member.ts';
import { type EventKind, eventText, messageText, snapshotEvent } from '../commands/stream/messages.ts';
import { positionResult } from '../commands/stream/replies.ts';
import { readAnnounceRequest, readSubscribeRequest, type SubscribeRequest } from '../commands/stream/requests.ts';
import {
  type GroupRef,
  type GroupWatcher,
  STORE_LIMITS,
  type StoreEvent,
  type StoreReply,
} from '../thread/contract.ts';
import { textIn } from './state.ts';
import { BridgeStore, type BridgeStoreOptions, bytesOf, type Done } from './store.ts';

interface Watched {
  readonly watcher: GroupWatcher;
  seq: number;
}

/** The member that holds the value where answers are not bare. */
const WRAPPED: Readonly<Record<string, string>> = {
  'stream::get': 'value',
  'stream::list': 'group',
  'stream::list_groups': 'groups',
  'stream::send': 'result',
};

const KINDS: readonly EventKind[] = ['create', 'update', 'delete', 'event'];

export class BridgedStreams extends BridgeStore {
  readonly #epoch: string;
  readonly #watched = new Map<string, Watched>();
  /** How many followers each stream has here. */
  readonly #followed = new Map<string, number>();

  constructor(options: BridgeStoreOptions) {
    super(options);
    this.#epoch = options.random.uuid();
  }

  watch({ stream, group }: GroupRef, watcher: GroupWatcher): () => void {
    const key = keyOf(stream, group);
    this.#watched.set(key, { watcher, seq: 0 });
    const leave = this.follow(stream);
    return () => {
      this.#watched.delete(key);
      leave();
    };
  }

  /** Events of the stream are reported from now on. Returns a function that ends it. */
  follow(stream: string): () => void {
    const count = this.#followed.get(stream) ?? 0;
    this.#followed.set(stream, count + 1);
    if (count === 0 && this.trouble === undefined) this.#bind(stream);
    return () => {
      const left = (this.#followed.get(stream) ?? 1) - 1;
      if (left > 0) return void this.#followed.set(stream, left);
      this.#followed.delete(stream);
      if (this.trouble === undefined) this.link.unbind(this.#triggerId(stream), 'stream');
    };
  }

  protected listen(): void {
    for (const stream of this.#followed.keys()) this.#bind(stream);
    // What happened while the other engine was away is not known.
    for (const { watcher } of this.#watched.values()) watcher.reset();
  }

  protected eventsIn(payload: RawJson): readonly StoreEvent[] {
    const [stream, group, item] = ['streamName', 'groupId', 'id'].map((name) => textIn(payload, name));
    const event = rawMember(payload, 'event');
    const kind = KINDS.find((word) => event !== undefined && word === textIn(event, 'type'));
    if (stream === undefined || group === undefined || event === undefined || kind === undefined) return [];
    return [this.#eventOf({ stream, group, item }, kind, bytesOf(event))];
  }

  protected carryOut(command: string, input: RawJson, isBare: boolean, done: Done): void {
    switch (command) {
      case 'stream.subscribe':
        return this.#subscribe(readSubscribeRequest(bytesOf(input)), isBare, done);
      case 'stream.sweep':
        // The other engine keeps the history.
        return this.options.clock.afterTurn(() => done({}));
      case 'stream.announce':
        return this.options.clock.afterTurn(() => done(this.#announced(input)));
      default:
        this.call(command, input, ({ result, error }) => {
          const own = error === undefined ? this.#inOwnForm(command, result, isBare) : undefined;
          done(error === undefined ? (own === undefined ? {} : { result: bytesOf(own) }) : { error });
        });
    }
  }

  #bind(stream: string): void {
    const config = { stream_name: stream, include_events: true };
    this.link.bind(this.#triggerId(stream), 'stream', this.listener, config);
  }

  #triggerId(stream: string): string {
    return `${this.listener} ${stream}`;
  }

  /**
   * The content as of a moment after the request. Events that arrive meanwhile follow it, so that none is missing; one
   * that the content has already may come again.
   */
  #subscribe({ stream, group, item }: SubscribeRequest, isBare: boolean, done: Done): void {
    const { clock } = this.options;
    const seq = this.#watched.get(keyOf(stream, group))?.seq ?? 0;
    const isGroup = item === undefined;
    const place = { stream_name: stream, group_id: group };
    const asked = rawJson(isGroup ? { ...place, include_ids: true } : { ...place, item_id: item });
    this.call(isGroup ? 'stream::list' : 'stream::get', asked, ({ result, error }) => {
      if (error !== undefined) return done({ error });
      const content = isBare ? result : result && rawMember(result, isGroup ? 'group' : 'value');
      const items = item === undefined ? itemsIn(content) : itemIn(item, content);
      const moment = { nowMs: clock.nowMs(), epoch: this.#epoch };
      const sync = snapshotEvent(moment, { stream, group, item }, seq, items);
      done({ result: positionResult(this.#epoch, seq), events: [sync] });
    });
  }

  /** A custom stream of this engine reports a change. */
  #announced(input: RawJson): StoreReply {
    const { stream, group, item, kind, payload } = readAnnounceRequest(bytesOf(input), STORE_LIMITS);
    return { events: [this.#eventOf({ stream, group, item }, kind, eventText(kind, payload))] };
  }

  #eventOf(
    { stream, group, item }: GroupRef & { item?: string | undefined },
    kind: EventKind,
    event: Buffer,
  ): StoreEvent {
    const watched = this.#watched.get(keyOf(stream, group));
    const seq = watched === undefined ? 0 : ++watched.seq;
    const moment = { nowMs: this.options.clock.nowMs(), epoch: this.#epoch };
    return {
      path: [stream, group, item ?? ''],
      kind,
      seq,
      body: messageText(moment, { stream, group, item, seq, event }),
    };
  }

  /** The answer of the other engine in the form of this one (PD-2). */
  #inOwnForm(command: string, result: RawJson | undefined, isBare: boolean): RawJson | undefined {
    const name = WRAPPED[command];
    const { isDropIn } = this.options;
    if (name === undefined || isBare === isDropIn) return result;
    if (isBare) return rawObject(name, result ?? RAW_NULL);
    const value = result && rawMember(result, name);
    return command === 'stream::get' && value === RAW_NULL ? undefined : value;
  }
}

function rawObject(name: string, value: RawJson): RawJson {
  return asRawJson(`{"${name}":${value}}`);
}

/** With their ids, as this engine asked; an engine that does not know the question answers with the items alone. */
function* itemsIn(content: RawJson | undefined): Iterable<{ id: string; data: Buffer }> {
  const listed: unknown = content === undefined ? [] : parseRawJson(content);
  for (const entry of Array.isArray(listed) ? listed : []) {
    const { id, data } = Object(entry);
    const isNamed = typeof id === 'string' && data !== undefined && Object.keys(entry).length === 2;
    yield isNamed
      ? { id, data: Buffer.from(JSON.stringify(data)) }
      : { id: typeof id === 'string' ? id : '', data: Buffer.from(JSON.stringify(entry)) };
  }
}

function itemIn(id: string, content: RawJson | undefined): readonly { id: string; data: Buffer }[] {
  return content === undefined || content === RAW_NULL ? [] : [{ id, data: bytesOf(content) }];
}

function keyOf(stream: string, group: string): string {
  return `${stream}\0${group}`;
}
