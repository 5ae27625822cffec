// State in Redis: a hash of values for each scope, as the peer has it, and the keys in their order beside it.

import { Refusal } from '../../core/refusal.ts';
import type { StoreReply } from '../contract.ts';
import { LIST_BYTES_MAX } from '../json-list.ts';
import { deleteReply, getReply, groupsReply, listReply, setReply, updated, updateReply } from '../state/replies.ts';
import {
  type EntryRequest,
  readEntryRequest,
  readGroupsRequest,
  readListRequest,
  readSetRequest,
  readUpdateRequest,
} from '../state/requests.ts';
import { ATTEMPTS_MAX, type CommandParts, type ExtCommand, entriesIn, inKey } from './commands.ts';
import { namesWhere } from './lex-range.ts';
import { bytesIn, listIn, openValue, type StoredValue, sealValue, WHATEVER } from './record.ts';
import { LIST_ENTRIES, PUT_ENTRY, TAKE_ENTRY } from './state-scripts.ts';

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

  return {
    'state::get': async (input, world) => getReply(world, (await read(readEntryRequest('state::get', input))).json),

    'state::set': async (input, world) => {
      const asked = readSetRequest(input, world.limits);
      const { found } = await lanes.pass(laneOf(asked), () => put(asked, asked.value, WHATEVER));
      return setReply(world, asked, found.json);
    },

    'state::delete': async (input, world) => {
      const asked = readEntryRequest('state::delete', input);
      const { scope, key } = asked;
      const found = await lanes.pass(laneOf(asked), () => link.runScript(TAKE_ENTRY, all(scope), [key, scope]));
      return deleteReply(world, asked, openValue(found).json);
    },

    'state::update': async (input, world) => {
      const asked = readUpdateRequest(input);
      return await lanes.hold(laneOf(asked), async (): Promise<StoreReply> => {
        let before = await read(asked);
        for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
          const outcome = updated(asked, before.json, world.limits);
          if (outcome.after === undefined) return updateReply(world, asked, before.json, outcome);
          const { isDone, found } = await put(asked, outcome.after, before.tag);
          if (isDone) return updateReply(world, asked, before.json, outcome);
          before = found;
        }
        throw new Refusal('OVERLOADED', `Other engines change this value all the time: tried ${ATTEMPTS_MAX} times`);
      });
    },

    'state::list': async (input) => {
      const asked = readListRequest(input);
      const { offset, limitOrOneMore } = asked.page;
      const { from, to } = namesWhere(asked.prefix, asked.after);
      const { values, names } = keysOf(asked.scope);
      const args = [from, to, String(offset), String(limitOrOneMore), String(LIST_BYTES_MAX)];
      return listReply(asked, entriesIn(listIn(await link.runScript(LIST_ENTRIES, [values, names], args))));
    },

    'state::list_groups': async (input) => {
      const asked = readGroupsRequest(input);
      const { from, to } = namesWhere(undefined, asked.after);
      const page = ['LIMIT', String(asked.page.offset), String(asked.page.limitOrOneMore)];
      return groupsReply(asked, listIn(await link.run(['ZRANGE', scopesKey, from, to, 'BYLEX', ...page])).map(bytesIn));
    },
  };
}

function laneOf({ scope, key }: EntryRequest): string {
  return `${scope.toString('latin1')}\0${key.toString('latin1')}`;
}
