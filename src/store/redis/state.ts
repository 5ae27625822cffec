// State in Redis: a hash of values for each scope, as in `iii`, and next to it the keys in order.

import { previewReply } from '../commands/state/previews.ts';
import { getReply, groupsReply, listReply } from '../commands/state/replies.ts';
import { type EntryRequest, readGetRequest, readGroupsRequest, readListRequest } from '../commands/state/requests.ts';
import { LIST_BYTES_MAX } from '../thread/json-list.ts';
import { entriesIn, inKey, type RedisAccess, type RedisCommand } from './commands.ts';
import { LIST_ENTRIES } from './entry-scripts.ts';
import type { RedisOutbox } from './outbox.ts';
import { bytesIn, listIn, openValue, type StoredValue } from './record.ts';
import { type StateKeys, stateWrites } from './state-writes.ts';

export function stateCommands(redis: RedisAccess, outbox: RedisOutbox): Readonly<Record<string, RedisCommand>> {
  const { link, keyPrefix } = redis;
  const scopesKey = `${keyPrefix}state:scopes`;
  const keysOf = (scope: Buffer): StateKeys => {
    const place = `${keyPrefix}state:{${inKey(scope)}}`;
    const shared = { scopes: scopesKey, changes: `${keyPrefix}state:changes` };
    return { values: `${place}:values`, names: `${place}:keys`, ...shared };
  };
  const read = async ({ scope, key }: EntryRequest): Promise<StoredValue> =>
    openValue(await link.run(['HGET', keysOf(scope).values, key]));

  return {
    'state::get': async (input, context) => {
      const request = readGetRequest(input);
      return getReply(context, (await read(request)).json, request.withVersion);
    },

    ...stateWrites({ redis, outbox, keysOf, read }),
    ...listCommands({ link, keysOf, scopesKey }),
  };
}

interface ListAccess {
  readonly link: RedisAccess['link'];
  readonly scopesKey: string;
  keysOf(scope: Buffer): StateKeys;
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
