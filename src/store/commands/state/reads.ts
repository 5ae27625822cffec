// `state::get`, `state::list` and `state::list_groups`.

import { Buffer } from 'node:buffer';
import type { KvReader } from '../../kv/kv.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { allEntries, entriesOf, entriesWhere, entryKey, namesOf } from './keys.ts';
import { previewReply } from './previews.ts';
import { getReply, groupsReply, type ListEntry, listReply } from './replies.ts';
import {
  type GroupsRequest,
  type ListRequest,
  readGetRequest,
  readGroupsRequest,
  readListRequest,
} from './requests.ts';

export const stateGet: StoreCommand = {
  name: 'state::get',
  isWrite: false,
  run(kv, bytes, world) {
    const { scope, key, withVersion } = readGetRequest(bytes);
    return getReply(world, kv.get(entryKey(scope, key)), withVersion);
  },
};

export const stateList: StoreCommand = {
  name: 'state::list',
  isWrite: false,
  run(kv, bytes) {
    const asked = readListRequest(bytes);
    if (asked.previewBytes > 0) return { result: previewReply(asked, allFrom(kv, asked)) };
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

/** All of them: the reader stops when it has enough. */
function* allFrom(kv: KvReader, asked: ListRequest): Iterable<ListEntry> {
  const { start, end } = entriesWhere(asked.scope, asked);
  for (const { key, value, writtenMs } of kv.range(start, end)) yield { key: namesOf(key).key, value, writtenMs };
}

function* scopes(kv: KvReader, { page: { offset, limitOrOneMore }, after }: GroupsRequest): Iterable<Buffer> {
  const all = allEntries();
  const start = after === undefined ? all.start : entriesOf(after).end;
  let index = -offset;
  for (const scope of scopesWithin(kv, start, all.end)) {
    if (index >= limitOrOneMore) return;
    if (index++ >= 0) yield scope;
  }
}

/** Skips a few entries to reach the next scope; beyond `PASSED_MAX` it seeks instead. */
function* scopesWithin(kv: KvReader, start: Buffer, end: Buffer): Iterable<Buffer> {
  let [from, isOver] = [start, false];
  while (!isOver) {
    let passed = 0;
    isOver = true;
    for (const key of kv.keys(from, end)) {
      if (passed > 0 && Buffer.compare(key, from) < 0) {
        if (passed++ < PASSED_MAX) continue;
        isOver = false;
        break;
      }
      const { scope } = namesOf(key);
      from = entriesOf(scope).end;
      passed = 1;
      yield scope;
    }
  }
}

/** The cost of a seek, in keys. */
const PASSED_MAX = 16;
