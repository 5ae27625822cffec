// The stream commands that only read (PD-2).

import type { KvReader } from '../../kv/kv.ts';
import type { StoreCommand, StoreReply } from '../../thread/contract.ts';
import { LIST_ENTRIES_MAX, type PageRequest } from '../../thread/json-list.ts';
import { decodeHead } from './group-head.ts';
import { readItem } from './history.ts';
import { allHeads, headsOf, itemsOf, namesIn } from './keys.ts';
import type { FoundItem, GroupPlace } from './place.ts';
import { allResult, getResult, groupsResult, listResult, type StreamRow } from './replies.ts';
import { readAllRequest, readGroupsRequest, readItemRequest, readListRequest } from './requests.ts';

export const streamGet: StoreCommand = {
  name: 'stream::get',
  isWrite: false,
  run: (kv, bytes, world) => replyOf(getResult(world, readItem(kv, readItemRequest('stream::get', bytes)))),
};

export const streamList: StoreCommand = {
  name: 'stream::list',
  isWrite: false,
  run(kv, bytes, world) {
    const asked = readListRequest(bytes);
    return { result: listResult(world, asked, itemsIn(kv, asked, asked.page)) };
  },
};

export const streamListGroups: StoreCommand = {
  name: 'stream::list_groups',
  isWrite: false,
  run(kv, bytes, world) {
    const { stream, page } = readGroupsRequest(bytes);
    const { start, end } = headsOf(stream);
    return { result: groupsResult(world, page, groupNames(paged(groupsIn(kv, start, end), page))) };
  },
};

export const streamListAll: StoreCommand = {
  name: 'stream::list_all',
  isWrite: false,
  run(kv, bytes) {
    const page = readAllRequest(bytes);
    return { result: allResult(page, paged(streamsIn(kv), page)) };
  },
};

/** The items of a group in the order of their ids. */
export function* itemsIn(kv: KvReader, { stream, group }: GroupPlace, page: PageRequest): Iterable<FoundItem> {
  const { start, end } = itemsOf(stream, group);
  for (const { key, value } of kv.range(start, end, { offset: page.offset, limit: page.limitOrOneMore })) {
    const [, , id = ''] = namesIn(key);
    yield { id, data: value };
  }
}

/** Groups that hold items, sorted by name. */
function* groupsIn(kv: KvReader, start: Uint8Array, end: Uint8Array): Iterable<GroupPlace> {
  for (const { key, value } of kv.range(start, end)) {
    if (decodeHead(value).items === 0) continue;
    const [stream = '', group = ''] = namesIn(key);
    yield { stream, group };
  }
}

function* groupNames(groups: Iterable<GroupPlace>): Iterable<string> {
  for (const { group } of groups) yield group;
}

/** Streams with their groups, both sorted by name. */
function* streamsIn(kv: KvReader): Iterable<StreamRow> {
  const { start, end } = allHeads();
  for (let row = firstStream(kv, start, end); row !== undefined; row = firstStream(kv, headsOf(row.id).end, end)) {
    yield row;
  }
}

/** With one group more than the limit of a list; the rest is not read. */
function firstStream(kv: KvReader, start: Uint8Array, end: Uint8Array): StreamRow | undefined {
  const groups: string[] = [];
  let id: string | undefined;
  for (const { stream, group } of groupsIn(kv, start, end)) {
    id ??= stream;
    if (id !== stream || groups.length > LIST_ENTRIES_MAX) break;
    groups.push(group);
  }
  return id === undefined ? undefined : { id, groups };
}

function* paged<T>(all: Iterable<T>, { offset, limitOrOneMore }: PageRequest): Iterable<T> {
  let index = -offset;
  for (const one of all) {
    if (index >= limitOrOneMore) return;
    if (index++ >= 0) yield one;
  }
}

function replyOf(result: Uint8Array | undefined): StoreReply {
  return result === undefined ? {} : { result };
}
