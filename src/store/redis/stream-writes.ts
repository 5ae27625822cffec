// Streams in Redis: the commands that change them. Each is one script; the events for subscribers are built from its
// answer.

import { Refusal } from '../../core/calls/refusal.ts';
import type { KeptChange } from '../../core/queue/shapes.ts';
import { type EventKind, type ItemRef, triggerMessage } from '../commands/stream/messages.ts';
import { deleteResult, sendResult, setResult, updateResult } from '../commands/stream/replies.ts';
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
import type { KeptValues, RedisOutbox } from './outbox.ts';
import type { ChangeScript } from './outbox-scripts.ts';
import { ANY_TAG, listIn, openValue, type StoredValue, textIn, wholeNumber } from './record.ts';
import { type HistoryEvent, kindIn, type Position, storeEvent } from './stream-events.ts';
import { memberOf, operandsOf } from './stream-keys.ts';
import { readStoredItem } from './stream-reads.ts';
import { APPEND_EVENT, PUT_ITEM, TAKE_ITEM } from './stream-scripts.ts';
import type { WatchedGroups } from './watched-groups.ts';

export function streamWrites(
  redis: RedisAccess,
  groups: WatchedGroups,
  outbox: RedisOutbox,
): Readonly<Record<string, RedisCommand>> {
  const { lanes } = redis;
  const writer = new GroupWriter(redis, groups, outbox);

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
          const { streamValueBytes: valueBytesMax } = context.limits;
          const outcome = await redis.evaluate({ of: 'streams', input, before: old.json, valueBytesMax });
          const result = updateResult(old.json, outcome);
          if (outcome.after === undefined) return { result };
          const put = await writer.put(request, outcome.after, old.tag, context);
          if (put.isDone) return { result, events: put.events };
          old = put.found;
        }
        throw new Refusal('OVERLOADED', `Other engines keep changing this item: ${ATTEMPTS_MAX} attempts failed`);
      });
    },

    'stream::send': async (input, context) => {
      const request = readSendRequest(input, context.limits);
      const { events } = await lanes.pass(memberOf(request), () => writer.append(request, context));
      return { result: sendResult(context), events };
    },

    // The change was made already: jobs that cannot be kept are named in the result.
    'stream.announce': async (input, context) => {
      const request = readAnnounceRequest(input, context.limits);
      const { events, missing } = await lanes.pass(memberOf(request), () => writer.append(request, context, true));
      return { events, ...(missing.length > 0 && { result: Buffer.from(missing.join('\n')) }) };
    },
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

  readonly #outbox: RedisOutbox;

  constructor(redis: RedisAccess, groups: WatchedGroups, outbox: RedisOutbox) {
    this.#redis = redis;
    this.#groups = groups;
    this.#outbox = outbox;
  }

  /** `expected`: the write that must have written the present value. */
  async put(
    ref: ItemRef,
    payload: Buffer,
    expected: string,
    context: CommandContext,
  ): Promise<Change & { readonly isDone: boolean }> {
    const { tag, run } = this.#operands({ ...ref, kind: 'update' }, context);
    const [isDone, old, epoch, seq] = await run(PUT_ITEM, [ref.item, payload, expected]);
    const found = openValue(old);
    if (isDone !== 1) return { ...NO_CHANGE, found };
    const kind = found.json === undefined ? 'create' : 'update';
    const stored = { at: positionIn(epoch, seq, tag), kind, nowMs: context.nowMs, item: ref.item, payload } as const;
    return { isDone: true, found, events: await this.#settled(ref, stored) };
  }

  async take(ref: ItemRef, context: CommandContext): Promise<Change> {
    const { tag, run } = this.#operands({ ...ref, kind: 'delete' }, context);
    const [isDone, old, epoch, seq] = await run(TAKE_ITEM, [ref.item]);
    const found = openValue(old);
    if (isDone !== 1) return { ...NO_CHANGE, found };
    const payload = found.json ?? Buffer.alloc(0);
    const at = positionIn(epoch, seq, tag);
    const stored = { at, kind: 'delete', nowMs: context.nowMs, item: ref.item, payload } as const;
    return { found, events: await this.#settled(ref, stored) };
  }

  /** `isMade`: the change was made elsewhere already, and cannot be refused. */
  async append(
    request: EventRequest,
    context: CommandContext,
    isMade = false,
  ): Promise<{ readonly events: readonly StoreEvent[]; readonly missing: readonly string[] }> {
    const { kind, payload, item = '' } = request;
    const { tag, run, jobs } = this.#operands({ ...request, item }, context);
    const [epoch, seq, judged] = await run(APPEND_EVENT, [item, kind, payload, isMade ? '1' : '0']);
    const stored = { at: positionIn(epoch, seq, tag), kind, nowMs: context.nowMs, item, payload };
    return { events: await this.#settled(request, stored), missing: jobs?.missing(judged) ?? [] };
  }

  #operands(change: Operands, context: CommandContext) {
    const { link, newTag } = this.#redis;
    const tag = newTag();
    const { keys, args } = operandsOf(this.#redis, change, context, tag);
    const jobs = this.#outbox.jobsOf(
      () => changeOf(change, context),
      context,
      () => emptyBody(change, context),
    );
    const run = async (script: ChangeScript, own: readonly (string | Buffer)[]): Promise<readonly unknown[]> => {
      const allKeys = [...keys, ...(jobs?.keys ?? [])];
      const form = jobs === undefined ? script.plain : script.withJobs;
      const reply = listIn(await link.runScript(form, allKeys, [...args, ...own, ...(jobs?.args ?? [])]));
      if (reply[0] === -1) jobs?.refuse(reply[1]);
      return reply;
    };
    return { tag, run, jobs };
  }

  /** The event of a change, after all followers of the group in this engine have received it (T1). */
  async #settled(ref: GroupRef, stored: HistoryEvent): Promise<readonly StoreEvent[]> {
    const event = storeEvent(ref, stored);
    await this.#groups.settle(ref, { at: stored.at, event });
    return [event];
  }
}

interface Operands extends ItemRef {
  readonly kind: EventKind;
}

function changeOf({ stream, group, item, kind }: Operands, { nowMs }: CommandContext): KeptChange {
  return { path: [stream, group, item], kind, nowMs };
}

function emptyBody(change: Operands, context: CommandContext): Uint8Array {
  const values = { epoch: context.epoch, seq: 0, old: undefined, new: undefined };
  return streamJobBody(changeOf(change, context), values, context.isDropIn);
}

/** The payload of a job that was kept with a change. An item that was not there was created. */
export function streamJobBody(change: KeptChange, values: KeptValues, isDropIn: boolean): Uint8Array {
  const [stream = '', group = '', item = ''] = change.path;
  const known = kindIn(change.kind);
  const kind = known === 'update' && values.old === undefined ? 'create' : known;
  const at = { epoch: values.epoch, seq: values.seq, tag: '' };
  const stored = { at, kind, nowMs: change.nowMs, item, payload: values.new ?? NOTHING };
  return triggerMessage(storeEvent({ stream, group }, stored), isDropIn);
}

const NOTHING = Buffer.alloc(0);

function positionIn(epoch: unknown, seq: unknown, tag: string): Position {
  return { epoch: textIn(epoch), seq: wholeNumber(textIn(seq)), tag };
}
