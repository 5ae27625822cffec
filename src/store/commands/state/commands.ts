// The state commands. The key of an entry is `s`, scope, zero, key.

import { Buffer } from 'node:buffer';
import { joinKey, type KeyRange, keysBelow, partsOf, SPACE } from '../../kv/keys.ts';
import type { Kv, KvReader } from '../../kv/kv.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { keepJobs } from '../change-outbox/change-jobs.ts';
import { previewReply } from './previews.ts';
import {
  type ChangeNumber,
  deleteReply,
  getReply,
  groupsReply,
  type ListEntry,
  listReply,
  setReply,
  updated,
  updateReply,
} from './replies.ts';
import {
  checkCondition,
  type GroupsRequest,
  type KeyFilter,
  type ListRequest,
  readDeleteRequest,
  readGetRequest,
  readGroupsRequest,
  readListRequest,
  readSetRequest,
  readUpdateRequest,
} from './requests.ts';

export function entryKey(scope: Uint8Array, key: Uint8Array): Buffer {
  return joinKey(SPACE.state, scope, key);
}

function entriesOf(scope: Uint8Array): KeyRange {
  return keysBelow(SPACE.state, scope);
}

/** Entries of the scope whose key begins with `prefix` and comes after `after`, where these are given. */
function entriesWhere(scope: Uint8Array, { prefix, after }: KeyFilter): KeyRange {
  const all = entriesOf(scope);
  const first = prefix === undefined ? all.start : entryKey(scope, prefix);
  // No key holds a zero byte, so nothing lies between a key and the same key with one; and no key holds a 0xff.
  const next = after === undefined ? first : Buffer.concat([entryKey(scope, after), ZERO]);
  return {
    start: Buffer.compare(next, first) > 0 ? next : first,
    end: prefix === undefined ? all.end : Buffer.concat([first, LAST]),
  };
}

const ZERO = Buffer.of(0);
const LAST = Buffer.of(0xff);

function allEntries(): KeyRange {
  return keysBelow(SPACE.state);
}

/** Scope and key of an entry. */
function namesOf(entry: Uint8Array): { readonly scope: Buffer; readonly key: Buffer } {
  const [scope, key] = partsOf(entry);
  if (scope === undefined || key === undefined) throw new Error('A state entry has a scope and a key');
  return { scope, key };
}

export const stateGet: StoreCommand = {
  name: 'state::get',
  isWrite: false,
  run(kv, bytes, context) {
    const { scope, key, withVersion } = readGetRequest(bytes);
    return getReply(context, kv.get(entryKey(scope, key)), withVersion);
  },
};

export const stateList: StoreCommand = {
  name: 'state::list',
  isWrite: false,
  run(kv, bytes) {
    const request = readListRequest(bytes);
    if (request.previewBytes > 0) return { result: previewReply(request, allFrom(kv, request)) };
    return listReply(request, entries(kv, request));
  },
};

export const stateListGroups: StoreCommand = {
  name: 'state::list_groups',
  isWrite: false,
  run(kv, bytes) {
    const request = readGroupsRequest(bytes);
    return groupsReply(request, scopes(kv, request));
  },
};

function* entries(kv: KvReader, request: ListRequest): Iterable<ListEntry> {
  const { start, end } = entriesWhere(request.scope, request);
  const { offset, limitOrOneMore: limit } = request.page;
  for (const { key, value } of kv.range(start, end, { offset, limit })) yield { key: namesOf(key).key, value };
}

/** All of them: the reader stops when it has enough. */
function* allFrom(kv: KvReader, request: ListRequest): Iterable<ListEntry> {
  const { start, end } = entriesWhere(request.scope, request);
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

/** Numbers the changes that are reported, in the order in which they are made. */
function nextNumber(kv: Kv): ChangeNumber {
  return () => {
    const last = kv.get(LAST_NUMBER);
    const seq = last === undefined ? 1 : Buffer.from(last.buffer, last.byteOffset, last.length).readDoubleBE() + 1;
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleBE(seq);
    kv.put(LAST_NUMBER, bytes);
    return seq;
  };
}

const LAST_NUMBER = joinKey(SPACE.store, Buffer.from('state-changes'));

// Each of the commands that write is one atomic step.

export const stateSet: StoreCommand = {
  name: 'state::set',
  isWrite: true,
  run(kv, bytes, context) {
    const request = readSetRequest(bytes, context.limits);
    const at = entryKey(request.scope, request.key);
    const before = kv.get(at);
    checkCondition(request.condition, before);
    kv.put(at, request.value, context.nowMs);
    return keepJobs(kv, context, 'state', setReply(context, request, before, nextNumber(kv)));
  },
};

export const stateDelete: StoreCommand = {
  name: 'state::delete',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const request = readDeleteRequest(bytes);
    const at = entryKey(request.scope, request.key);
    const before = kv.get(at);
    checkCondition(request.condition, before);
    if (before !== undefined) kv.remove(at);
    return keepJobs(kv, context, 'state', deleteReply(context, request, before, nextNumber(kv)));
  },
};

/** Applies a list of operations to one value, in one step (S2). */
export const stateUpdate: StoreCommand = {
  name: 'state::update',
  isWrite: true,
  run(kv, bytes, context) {
    const request = readUpdateRequest(bytes);
    const at = entryKey(request.scope, request.key);
    const before = kv.get(at);
    const outcome = updated(request, before, context.limits);
    if (outcome.after !== undefined) kv.put(at, outcome.after, context.nowMs);
    return keepJobs(kv, context, 'state', updateReply(context, request, before, outcome, nextNumber(kv)));
  },
};
