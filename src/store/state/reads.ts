// `state::get`, `state::list` and `state::list_groups`.

import type { StoreCommand } from '../contract.ts';
import type { Kv, KvReader } from '../kv.ts';
import { allEntries, entriesOf, entriesWhere, entryKey, namesOf } from './keys.ts';
import { getReply, groupsReply, type ListEntry, listReply } from './replies.ts';
import {
  type GroupsRequest,
  type ListRequest,
  readEntryRequest,
  readGroupsRequest,
  readListRequest,
} from './requests.ts';

export const stateGet: StoreCommand = {
  name: 'state::get',
  isWrite: false,
  run(kv, bytes, world) {
    const { scope, key } = readEntryRequest('state::get', bytes);
    return getReply(world, kv.get(entryKey(scope, key)));
  },
};

export const stateList: StoreCommand = {
  name: 'state::list',
  isWrite: false,
  run(kv, bytes) {
    const asked = readListRequest(bytes);
    return listReply(asked, entries(kv, asked));
  },
};

export const stateListGroups: StoreCommand = {
  name: 'state::list_groups',
  isWrite: false,
  run(kv, bytes) {
    const asked = readGroupsRequest(bytes);
    return groupsReply(asked, scopes(kv, asked));
  },
};

function* entries(kv: KvReader, asked: ListRequest): Iterable<ListEntry> {
  const { start, end } = entriesWhere(asked.scope, asked);
  const { offset, limitOrOneMore: limit } = asked.page;
  for (const { key, value } of kv.range(start, end, { offset, limit })) yield { key: namesOf(key).key, value };
}

/** Each scope costs one look-up, however many entries it has. */
function* scopes(kv: Kv, { page: { offset, limitOrOneMore }, after }: GroupsRequest): Iterable<Buffer> {
  const all = allEntries();
  let start = after === undefined ? all.start : entriesOf(after).end;
  for (let index = 0; index < offset + limitOrOneMore; index++) {
    const [first] = kv.range(start, all.end, { limit: 1 });
    if (first === undefined) return;
    const { scope } = namesOf(first.key);
    if (index >= offset) yield scope;
    start = entriesOf(scope).end;
  }
}
