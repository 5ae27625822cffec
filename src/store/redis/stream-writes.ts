// Streams in Redis: the commands that change them. Each is one script; the events for subscribers are built from its
// answer.

import { Refusal } from '../../core/calls/refusal.ts';
import type { ItemRef } from '../commands/stream/messages.ts';
import { deleteResult, sendResult, setResult, updated, updateResult } from '../commands/stream/replies.ts';
import {
  type EventRequest,
  readAnnounceRequest,
  readItemRequest,
  readSendRequest,
  readSetRequest,
  readUpdateRequest,
} from '../commands/stream/requests.ts';
import type { CommandContext, GroupRef, StoreEvent, StoreReply } from '../thread/contract.ts';
import { ATTEMPTS_MAX, type RedisAccess, type RedisCommand } from './commands.ts';
import { ANY_TAG, listIn, openValue, type StoredValue, textIn } from './record.ts';
import { type HistoryEvent, type Position, storeEvent, wholeNumber } from './stream-events.ts';
import { memberOf, operandsOf } from './stream-keys.ts';
import { readStoredItem } from './stream-reads.ts';
import { APPEND_EVENT, PUT_ITEM, TAKE_ITEM } from './stream-scripts.ts';
import type { WatchedGroups } from './watched-groups.ts';

export function streamWrites(redis: RedisAccess, groups: WatchedGroups): Readonly<Record<string, RedisCommand>> {
  const { lanes } = redis;
  const writer = new GroupWriter(redis, groups);
  const append = async (request: EventRequest, context: CommandContext) =>
    await lanes.pass(memberOf(request), () => writer.append(request, context));

  return {
    'stream::set': async (input, context) => {
      const request = readSetRequest(input, context.limits);
      const put = await lanes.pass(memberOf(request), () => writer.put(request, request.data, ANY_TAG, context));
      return { result: setResult(request, put.found.json), events: put.events };
    },

    'stream::delete': async (input, context) => {
      const ref = readItemRequest('stream::delete', input);
      const { found, events } = await lanes.pass(memberOf(ref), () => writer.take(ref, context));
      return { result: deleteResult(found.json), events };
    },

    'stream::update': async (input, context) => {
      const request = readUpdateRequest(input);
      return await lanes.hold(memberOf(request), async (): Promise<StoreReply> => {
        let old = await readStoredItem(redis, request);
        for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
          const outcome = updated(request, old.json, context.limits);
          const result = updateResult(old.json, outcome);
          if (outcome.data === undefined) return { result };
          const put = await writer.put(request, outcome.data, old.tag, context);
          if (put.isDone) return { result, events: put.events };
          old = put.found;
        }
        throw new Refusal('OVERLOADED', `Other engines keep changing this item: ${ATTEMPTS_MAX} attempts failed`);
      });
    },

    'stream::send': async (input, context) => {
      const events = await append(readSendRequest(input, context.limits), context);
      return { result: sendResult(context), events };
    },

    'stream.announce': async (input, context) => ({
      events: await append(readAnnounceRequest(input, context.limits), context),
    }),
  };
}

interface Change {
  /** The value that is, or was, there. */
  readonly found: StoredValue;
  readonly events: readonly StoreEvent[];
}

const NO_CHANGE = { isDone: false, events: [] };

class GroupWriter {
  readonly #redis: RedisAccess;
  readonly #groups: WatchedGroups;

  constructor(redis: RedisAccess, groups: WatchedGroups) {
    this.#redis = redis;
    this.#groups = groups;
  }

  /** `expected`: the write that must have written the present value. */
  async put(
    ref: ItemRef,
    payload: Buffer,
    expected: string,
    context: CommandContext,
  ): Promise<Change & { readonly isDone: boolean }> {
    const { tag, keys, args } = this.#operands(ref, context);
    const reply = await this.#redis.link.runScript(PUT_ITEM, keys, [...args, ref.item, payload, expected]);
    const [isDone, old, epoch, seq] = listIn(reply);
    const found = openValue(old);
    if (isDone !== 1) return { ...NO_CHANGE, found };
    const kind = found.json === undefined ? 'create' : 'update';
    const stored = { at: positionIn(epoch, seq, tag), kind, nowMs: context.nowMs, item: ref.item, payload } as const;
    return { isDone: true, found, events: await this.#settled(ref, stored) };
  }

  async take(ref: ItemRef, context: CommandContext): Promise<Change> {
    const { tag, keys, args } = this.#operands(ref, context);
    const taken = await this.#redis.link.runScript(TAKE_ITEM, keys, [...args, ref.item]);
    if (taken === null) return { ...NO_CHANGE, found: openValue(null) };
    const [old, epoch, seq] = listIn(taken);
    const found = openValue(old);
    const payload = found.json ?? Buffer.alloc(0);
    const at = positionIn(epoch, seq, tag);
    const stored = { at, kind: 'delete', nowMs: context.nowMs, item: ref.item, payload } as const;
    return { found, events: await this.#settled(ref, stored) };
  }

  async append(request: EventRequest, context: CommandContext): Promise<readonly StoreEvent[]> {
    const { kind, payload, item = '' } = request;
    const { tag, keys, args } = this.#operands(request, context);
    const reply = await this.#redis.link.runScript(APPEND_EVENT, keys, [...args, item, kind, payload]);
    const [epoch, seq] = listIn(reply);
    return await this.#settled(request, { at: positionIn(epoch, seq, tag), kind, nowMs: context.nowMs, item, payload });
  }

  #operands(ref: GroupRef, context: CommandContext) {
    const tag = this.#redis.newTag();
    return { tag, ...operandsOf(this.#redis, ref, context, tag) };
  }

  /** The event of a change, after all followers of the group in this engine have received it (T1). */
  async #settled(ref: GroupRef, stored: HistoryEvent): Promise<readonly StoreEvent[]> {
    const event = storeEvent(ref, stored);
    await this.#groups.settle(ref, { at: stored.at, event });
    return [event];
  }
}

function positionIn(epoch: unknown, seq: unknown, tag: string): Position {
  return { epoch: textIn(epoch), seq: wholeNumber(textIn(seq)), tag };
}
