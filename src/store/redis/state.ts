// State in Redis: a hash of values for each scope, as in `iii`, and next to it the keys in order.

import { Refusal } from '../../core/calls/refusal.ts';
import { previewReply } from '../commands/state/previews.ts';
import {
  deleteReply,
  getReply,
  groupsReply,
  listReply,
  setReply,
  updated,
  updateReply,
} from '../commands/state/replies.ts';
import {
  checkCondition,
  type DeleteRequest,
  type EntryRequest,
  readDeleteRequest,
  readGetRequest,
  readGroupsRequest,
  readListRequest,
  readSetRequest,
  readUpdateRequest,
  type SetRequest,
  type UpdateRequest,
  type WriteCondition,
} from '../commands/state/requests.ts';
import type { CommandContext, StoreReply } from '../thread/contract.ts';
import { LIST_BYTES_MAX } from '../thread/json-list.ts';
import { ATTEMPTS_MAX, entriesIn, inKey, type RedisAccess, type RedisCommand } from './commands.ts';
import { LIST_ENTRIES, PUT_ENTRY, TAKE_ENTRY, TAKE_ENTRY_IF } from './entry-scripts.ts';
import { ANY_TAG, bytesIn, corrupt, listIn, openValue, type StoredValue, sealValue } from './record.ts';

interface ScopeKeys {
  readonly values: string;
  readonly names: string;
}

export function stateCommands({ link, keyPrefix, lanes, newTag }: RedisAccess): Readonly<Record<string, RedisCommand>> {
  const scopesKey = `${keyPrefix}state:scopes`;
  const keysOf = (scope: Buffer): ScopeKeys => {
    const place = `${keyPrefix}state:{${inKey(scope)}}`;
    return { values: `${place}:values`, names: `${place}:keys` };
  };
  const changesKey = `${keyPrefix}state:changes`;
  const all = (scope: Buffer): string[] => [keysOf(scope).values, keysOf(scope).names, scopesKey, changesKey];

  const read = async ({ scope, key }: EntryRequest): Promise<StoredValue> =>
    openValue(await link.run(['HGET', keysOf(scope).values, key]));

  const put = async ({ scope, key }: EntryRequest, value: Uint8Array, expected: string): Promise<Put> => {
    const args = [key, scope, sealValue(newTag(), value), expected];
    const [seq, found] = listIn(await link.runScript(PUT_ENTRY, all(scope), args));
    return { seq: numberIn(seq), found: openValue(found) };
  };

  /** If another engine writes between the read and the change, that is a conflict like any other. */
  const setIf = async (request: SetRequest, context: CommandContext): Promise<StoreReply> => {
    const before = await read(request);
    checkCondition(request.condition, before.json);
    const { seq, found } = await put(request, request.value, before.tag);
    if (seq > 0) return setReply(context, request, found.json, () => seq);
    throw new Refusal('CONFLICT', 'The entry changed while it was being written');
  };

  const deleteIf = async (request: DeleteRequest, context: CommandContext): Promise<StoreReply> => {
    const before = await read(request);
    checkCondition(request.condition, before.json);
    const args = [request.key, request.scope, before.tag];
    const [isDone, found, seq] = listIn(await link.runScript(TAKE_ENTRY_IF, all(request.scope), args));
    if (isDone === 1) return deleteReply(context, request, openValue(found).json, () => numberIn(seq));
    throw new Refusal('CONFLICT', 'The entry changed while it was being deleted');
  };

  const update = (request: UpdateRequest, context: CommandContext): Promise<StoreReply> =>
    lanes.hold(laneOf(request), () => updateInTurn(request, context, read, put));

  return {
    'state::get': async (input, context) => {
      const request = readGetRequest(input);
      return getReply(context, (await read(request)).json, request.withVersion);
    },

    'state::set': async (input, context) => {
      const request = readSetRequest(input, context.limits);
      if (isConditional(request.condition)) return await lanes.hold(laneOf(request), () => setIf(request, context));
      const { seq, found } = await lanes.pass(laneOf(request), () => put(request, request.value, ANY_TAG));
      return setReply(context, request, found.json, () => seq);
    },

    'state::delete': async (input, context) => {
      const request = readDeleteRequest(input);
      const { scope, key } = request;
      if (isConditional(request.condition)) return await lanes.hold(laneOf(request), () => deleteIf(request, context));
      const taken = await lanes.pass(laneOf(request), () => link.runScript(TAKE_ENTRY, all(scope), [key, scope]));
      const [seq, found] = listIn(taken);
      return deleteReply(context, request, openValue(found).json, () => numberIn(seq));
    },

    // Async, so that input that cannot be read is answered like every other refusal.
    'state::update': async (input, context) => await update(readUpdateRequest(input), context),

    ...listCommands({ link, keysOf, scopesKey }),
  };
}

interface Put {
  /** Of the change; 0: nothing was written. */
  readonly seq: number;
  /** What was there before. */
  readonly found: StoredValue;
}

function numberIn(reply: unknown): number {
  if (typeof reply === 'number') return reply;
  throw corrupt('something other than a number');
}

/** Computes the update again each time another engine was faster. */
async function updateInTurn(
  request: UpdateRequest,
  context: CommandContext,
  read: (entry: EntryRequest) => Promise<StoredValue>,
  put: (entry: EntryRequest, value: Uint8Array, expected: string) => Promise<Put>,
): Promise<StoreReply> {
  let before = await read(request);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const outcome = updated(request, before.json, context.limits);
    if (outcome.after === undefined) return updateReply(context, request, before.json, outcome, () => 0);
    const { seq, found } = await put(request, outcome.after, before.tag);
    if (seq > 0) return updateReply(context, request, before.json, outcome, () => seq);
    before = found;
  }
  throw new Refusal('OVERLOADED', `Other engines keep changing this value: ${ATTEMPTS_MAX} attempts failed`);
}

interface ListAccess {
  readonly link: RedisAccess['link'];
  readonly scopesKey: string;
  keysOf(scope: Buffer): ScopeKeys;
}

function listCommands({ link, keysOf, scopesKey }: ListAccess): Readonly<Record<string, RedisCommand>> {
  return {
    'state::list': async (input) => {
      const request = readListRequest(input);
      const { offset, limitOrOneMore } = request.page;
      const { from, to } = namesWhere(request.prefix, request.after);
      const { values, names } = keysOf(request.scope);
      const count = request.contains === undefined ? limitOrOneMore : SEARCHED_AT_ONCE;
      const args = [from, to, String(offset), String(count), String(LIST_BYTES_MAX)];
      const entries = entriesIn(listIn(await link.runScript(LIST_ENTRIES, [values, names], args)));
      if (request.previewBytes === 0) return listReply(request, entries);
      const bytes = entries.reduce((sum, { value }) => sum + value.length, 0);
      return { result: previewReply(request, entries, entries.length >= count || bytes > LIST_BYTES_MAX) };
    },

    'state::list_groups': async (input) => {
      const request = readGroupsRequest(input);
      const { from, to } = namesWhere(undefined, request.after);
      const page = ['LIMIT', String(request.page.offset), String(request.page.limitOrOneMore)];
      return groupsReply(
        request,
        listIn(await link.run(['ZRANGE', scopesKey, from, to, 'BYLEX', ...page])).map(bytesIn),
      );
    },
  };
}

/** Keys that one step of a search reads. */
const SEARCHED_AT_ONCE = 1_000;

function isConditional({ ifVersion, ifAbsent }: WriteCondition): boolean {
  return ifVersion !== undefined || ifAbsent;
}

function laneOf({ scope, key }: EntryRequest): string {
  return `${scope.toString('latin1')}\0${key.toString('latin1')}`;
}

/** Bounds of names in byte order, as Redis takes them: '-' and '+' for none, '[' includes the name, '(' excludes it. */
interface LexRange {
  readonly from: string | Buffer;
  readonly to: string | Buffer;
}

/** Names that begin with `prefix` and come after `after`, where these are given. */
function namesWhere(prefix: Buffer | undefined, after: Buffer | undefined): LexRange {
  const startsAfter = after !== undefined && (prefix === undefined || Buffer.compare(after, prefix) >= 0);
  const first = prefix === undefined ? '-' : Buffer.concat([WITH, prefix]);
  return {
    from: startsAfter ? Buffer.concat([WITHOUT, after]) : first,
    // No UTF-8 text contains this byte.
    to: prefix === undefined ? '+' : Buffer.concat([WITHOUT, prefix, LAST]),
  };
}

const WITH = Buffer.from('[');
const WITHOUT = Buffer.from('(');
const LAST = Buffer.of(0xff);
