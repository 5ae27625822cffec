// State in Redis: the commands that change entries. Each change is one script, which also keeps the jobs of triggers
// that name a queue.

import { Refusal } from '../../core/calls/refusal.ts';
import type { KeptChange } from '../../core/queue/shapes.ts';
import { changeEvent, deleteReply, setReply, updateReply } from '../commands/state/replies.ts';
import {
  checkCondition,
  type DeleteRequest,
  type EntryRequest,
  readDeleteRequest,
  readSetRequest,
  readUpdateRequest,
  type SetRequest,
  type WriteCondition,
} from '../commands/state/requests.ts';
import type { CommandContext, StoreReply } from '../thread/contract.ts';
import { ATTEMPTS_MAX, type RedisAccess, type RedisCommand } from './commands.ts';
import { PUT_ENTRY, TAKE_ENTRY } from './entry-scripts.ts';
import type { KeptValues, RedisOutbox } from './outbox.ts';
import type { ChangeScript } from './outbox-scripts.ts';
import { ANY_TAG, corrupt, listIn, openValue, type StoredValue, sealValue } from './record.ts';

/** In the order of the scripts' `KEYS`. */
export interface StateKeys {
  readonly values: string;
  readonly names: string;
  readonly scopes: string;
  /** The number of the last change. */
  readonly changes: string;
}

interface EntryAccess {
  readonly redis: RedisAccess;
  readonly outbox: RedisOutbox;
  keysOf(scope: Buffer): StateKeys;
  read(entry: EntryRequest): Promise<StoredValue>;
}

export function stateWrites(access: EntryAccess): Readonly<Record<string, RedisCommand>> {
  const { lanes } = access.redis;
  const writer = new EntryWriter(access);
  return {
    'state::set': async (input, context) => {
      const request = readSetRequest(input, context.limits);
      const lane = laneOf(request);
      if (isConditional(request.condition)) return await lanes.hold(lane, () => writer.setIf(request, context));
      const { seq, found } = await lanes.pass(lane, () => writer.put(request, request.value, ANY_TAG, context));
      return setReply(context, request, found.json, () => seq);
    },

    'state::delete': async (input, context) => {
      const request = readDeleteRequest(input);
      const lane = laneOf(request);
      if (isConditional(request.condition)) return await lanes.hold(lane, () => writer.deleteIf(request, context));
      const { seq, found } = await lanes.pass(lane, () => writer.take(request, ANY_TAG, context));
      return deleteReply(context, request, found.json, () => seq);
    },

    'state::update': async (input, context) => {
      const request = readUpdateRequest(input);
      return await lanes.hold(laneOf(request), () => writer.update(request, input, context));
    },
  };
}

interface Changed {
  /** Of the change; 0: nothing changed. */
  readonly seq: number;
  /** What was there before. */
  readonly found: StoredValue;
}

class EntryWriter {
  readonly #access: EntryAccess;

  constructor(access: EntryAccess) {
    this.#access = access;
  }

  /** `expected`: the write that must have written the present value. */
  async put(entry: EntryRequest, value: Uint8Array, expected: string, context: CommandContext): Promise<Changed> {
    const { newTag } = this.#access.redis;
    return await this.#change(PUT_ENTRY, entry, [sealValue(newTag(), value), expected], context);
  }

  async take(entry: EntryRequest, expected: string, context: CommandContext): Promise<Changed> {
    return await this.#change(TAKE_ENTRY, entry, [expected], context);
  }

  /** If another engine writes between the read and the change, that is a conflict like any other. */
  async setIf(request: SetRequest, context: CommandContext): Promise<StoreReply> {
    const before = await this.#access.read(request);
    checkCondition(request.condition, before.json);
    const { seq, found } = await this.put(request, request.value, before.tag, context);
    if (seq > 0) return setReply(context, request, found.json, () => seq);
    throw new Refusal('CONFLICT', 'The entry changed while it was being written');
  }

  async deleteIf(request: DeleteRequest, context: CommandContext): Promise<StoreReply> {
    const before = await this.#access.read(request);
    checkCondition(request.condition, before.json);
    if (before.json === undefined) return deleteReply(context, request, undefined, () => 0);
    const { seq, found } = await this.take(request, before.tag, context);
    if (seq > 0) return deleteReply(context, request, found.json, () => seq);
    throw new Refusal('CONFLICT', 'The entry changed while it was being deleted');
  }

  /** Computes the update again each time another engine was faster. */
  async update(entry: EntryRequest, input: Buffer, context: CommandContext): Promise<StoreReply> {
    const { read, redis } = this.#access;
    const { stateValueBytes: valueBytesMax } = context.limits;
    let before = await read(entry);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const outcome = await redis.evaluate({ of: 'state', input, before: before.json, valueBytesMax });
      if (outcome.after === undefined) return updateReply(context, entry, before.json, outcome, () => 0);
      const { seq, found } = await this.put(entry, outcome.after, before.tag, context);
      if (seq > 0) return updateReply(context, entry, before.json, outcome, () => seq);
      before = found;
    }
    throw new Refusal('OVERLOADED', `Other engines keep changing this value: ${ATTEMPTS_MAX} attempts failed`);
  }

  async #change(
    script: ChangeScript,
    entry: EntryRequest,
    args: readonly (string | Buffer)[],
    context: CommandContext,
  ): Promise<Changed> {
    const { redis, outbox, keysOf } = this.#access;
    const { scope, key } = entry;
    const change = () => changeOf(entry, context);
    const jobs = outbox.jobsOf(change, context, () => emptyBody(entry, context));
    const form = jobs === undefined ? script.plain : script.withJobs;
    const { values, names, scopes, changes } = keysOf(scope);
    const keys = [values, names, scopes, changes, ...(jobs?.keys ?? [])];
    const reply = await redis.link.runScript(form, keys, [key, scope, ...args, ...(jobs?.args ?? [])]);
    const [seq, found] = listIn(reply);
    if (seq === -1) jobs?.refuse(found);
    return { seq: numberIn(seq), found: openValue(found) };
  }
}

function isConditional({ ifVersion, ifAbsent }: WriteCondition): boolean {
  return ifVersion !== undefined || ifAbsent;
}

function laneOf({ scope, key }: EntryRequest): string {
  return `${scope.toString('latin1')}\0${key.toString('latin1')}`;
}

function changeOf({ scope, key }: EntryRequest, { nowMs }: CommandContext): KeptChange {
  return { path: [scope.toString('utf8'), key.toString('utf8')], kind: CHANGE, nowMs };
}

/** What the change of an entry is depends on the values. */
const CHANGE = 'state';

function emptyBody({ scope, key }: EntryRequest, context: CommandContext): Uint8Array {
  return changeEvent(context, { scope, key, before: EMPTY, after: EMPTY, seq: () => 0 }).body;
}

/** The payload of a job that was kept with a change. */
export function stateJobBody(
  { path: [scope = '', key = ''], nowMs }: KeptChange,
  values: KeptValues,
  isDropIn: boolean,
) {
  const names = { scope: Buffer.from(scope), key: Buffer.from(key) };
  return changeEvent({ nowMs, isDropIn }, { ...names, before: values.old, after: values.new, seq: () => values.seq })
    .body;
}

const EMPTY = Buffer.alloc(0);

function numberIn(reply: unknown): number {
  if (typeof reply === 'number') return reply;
  throw corrupt('something other than a number');
}
