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
} from '../commands/state/requests.ts';
import { checkCondition, type WriteCondition } from '../commands/state/versions.ts';
import type { CommandWorld, StoreReply } from '../thread/contract.ts';
import { LIST_BYTES_MAX } from '../thread/json-list.ts';
import { ATTEMPTS_MAX, type CommandParts, type ExtCommand, entriesIn, inKey } from './commands.ts';
import { namesWhere } from './lex-range.ts';
import { bytesIn, listIn, openValue, type StoredValue, sealValue, WHATEVER } from './record.ts';
import { LIST_ENTRIES, PUT_ENTRY, TAKE_ENTRY, TAKE_ENTRY_IF } from './state-scripts.ts';

interface ScopeKeys {
  readonly values: string;
  readonly names: string;
}

export function stateCommands({ link, keyPrefix, lanes, newTag }: CommandParts): Readonly<Record<string, ExtCommand>> {
  const scopesKey = `${keyPrefix}state:scopes`;
  const keysOf = (scope: Buffer): ScopeKeys => {
    const place = `${keyPrefix}state:{${inKey(scope)}}`;
    return { values: `${place}:values`, names: `${place}:keys` };
  };
  const all = (scope: Buffer): string[] => [keysOf(scope).values, keysOf(scope).names, scopesKey];

  const read = async ({ scope, key }: EntryRequest): Promise<StoredValue> =>
    openValue(await link.run(['HGET', keysOf(scope).values, key]));

  const put = async ({ scope, key }: EntryRequest, value: Uint8Array, expected: string) => {
    const args = [key, scope, sealValue(newTag(), value), expected];
    const [isDone, found] = listIn(await link.runScript(PUT_ENTRY, all(scope), args));
    return { isDone: isDone === 1, found: openValue(found) };
  };

  /** If another engine writes between the read and the change, that is a conflict like any other. */
  const setIf = async (asked: SetRequest, world: CommandWorld): Promise<StoreReply> => {
    const before = await read(asked);
    checkCondition(asked.condition, before.json);
    const { isDone, found } = await put(asked, asked.value, before.tag);
    if (isDone) return setReply(world, asked, found.json);
    throw new Refusal('CONFLICT', 'The entry changed while it was being written');
  };

  const deleteIf = async (asked: DeleteRequest, world: CommandWorld): Promise<StoreReply> => {
    const before = await read(asked);
    checkCondition(asked.condition, before.json);
    const args = [asked.key, asked.scope, before.tag];
    const [isDone, found] = listIn(await link.runScript(TAKE_ENTRY_IF, all(asked.scope), args));
    if (isDone === 1) return deleteReply(world, asked, openValue(found).json);
    throw new Refusal('CONFLICT', 'The entry changed while it was being deleted');
  };

  const update = (asked: UpdateRequest, world: CommandWorld): Promise<StoreReply> =>
    lanes.hold(laneOf(asked), () => updateInTurn(asked, world, read, put));

  return {
    'state::get': async (input, world) => {
      const asked = readGetRequest(input);
      return getReply(world, (await read(asked)).json, asked.withVersion);
    },

    'state::set': async (input, world) => {
      const asked = readSetRequest(input, world.limits);
      if (isConditional(asked.condition)) return await lanes.hold(laneOf(asked), () => setIf(asked, world));
      const { found } = await lanes.pass(laneOf(asked), () => put(asked, asked.value, WHATEVER));
      return setReply(world, asked, found.json);
    },

    'state::delete': async (input, world) => {
      const asked = readDeleteRequest(input);
      const { scope, key } = asked;
      if (isConditional(asked.condition)) return await lanes.hold(laneOf(asked), () => deleteIf(asked, world));
      const found = await lanes.pass(laneOf(asked), () => link.runScript(TAKE_ENTRY, all(scope), [key, scope]));
      return deleteReply(world, asked, openValue(found).json);
    },

    // Async, so that input that cannot be read is answered like every other refusal.
    'state::update': async (input, world) => await update(readUpdateRequest(input), world),

    ...listCommands({ link, keysOf, scopesKey }),
  };
}

/** Computes the update again each time another engine was faster. */
async function updateInTurn(
  asked: UpdateRequest,
  world: CommandWorld,
  read: (entry: EntryRequest) => Promise<StoredValue>,
  put: (entry: EntryRequest, value: Uint8Array, expected: string) => Promise<{ isDone: boolean; found: StoredValue }>,
): Promise<StoreReply> {
  let before = await read(asked);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const outcome = updated(asked, before.json, world.limits);
    if (outcome.after === undefined) return updateReply(world, asked, before.json, outcome);
    const { isDone, found } = await put(asked, outcome.after, before.tag);
    if (isDone) return updateReply(world, asked, before.json, outcome);
    before = found;
  }
  throw new Refusal('OVERLOADED', `Other engines change this value all the time: tried ${ATTEMPTS_MAX} times`);
}

interface ListParts {
  readonly link: CommandParts['link'];
  readonly scopesKey: string;
  keysOf(scope: Buffer): ScopeKeys;
}

function listCommands({ link, keysOf, scopesKey }: ListParts): Readonly<Record<string, ExtCommand>> {
  return {
    'state::list': async (input) => {
      const asked = readListRequest(input);
      const { offset, limitOrOneMore } = asked.page;
      const { from, to } = namesWhere(asked.prefix, asked.after);
      const { values, names } = keysOf(asked.scope);
      const count = asked.contains === undefined ? limitOrOneMore : SEARCHED_AT_ONCE;
      const args = [from, to, String(offset), String(count), String(LIST_BYTES_MAX)];
      const entries = entriesIn(listIn(await link.runScript(LIST_ENTRIES, [values, names], args)));
      if (asked.previewBytes === 0) return listReply(asked, entries);
      const bytes = entries.reduce((sum, { value }) => sum + value.length, 0);
      return { result: previewReply(asked, entries, entries.length >= count || bytes > LIST_BYTES_MAX) };
    },

    'state::list_groups': async (input) => {
      const asked = readGroupsRequest(input);
      const { from, to } = namesWhere(undefined, asked.after);
      const page = ['LIMIT', String(asked.page.offset), String(asked.page.limitOrOneMore)];
      return groupsReply(asked, listIn(await link.run(['ZRANGE', scopesKey, from, to, 'BYLEX', ...page])).map(bytesIn));
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
