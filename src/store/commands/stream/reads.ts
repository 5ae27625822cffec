// The stream commands that only read (PD-2).

import type { KvReader } from '../../kv/kv.ts';
import type { CommandContext, GroupRef, StoreCommand, StoreEvent, StoreReply } from '../../thread/contract.ts';
import { LIST_ENTRIES_MAX, type PageRequest } from '../../thread/json-list.ts';
import { decodeHead, type GroupHead, headOrNew } from './group-head.ts';
import { eventsFrom, readItem } from './history.ts';
import { allHeads, headsOf, itemsOf, namesIn } from './keys.ts';
import { type FoundItem, recoveredEvent, SNAPSHOT_PAGE, type Subject, snapshotEvent } from './messages.ts';
import { allResult, getResult, groupsResult, listResult, positionResult, type StreamRow } from './replies.ts';
import {
  readAllRequest,
  readGroupsRequest,
  readItemRequest,
  readListRequest,
  readSubscribeRequest,
} from './requests.ts';

export const streamGet: StoreCommand = {
  name: 'stream::get',
  isWrite: false,
  run: (kv, bytes, context) => replyOf(getResult(context, readItem(kv, readItemRequest('stream::get', bytes)))),
};

export const streamList: StoreCommand = {
  name: 'stream::list',
  isWrite: false,
  run(kv, bytes, context) {
    const request = readListRequest(bytes);
    return { result: listResult(context, request, itemsIn(kv, request, request.page)) };
  },
};

export const streamListGroups: StoreCommand = {
  name: 'stream::list_groups',
  isWrite: false,
  run(kv, bytes, context) {
    const { stream, page, withEmpty } = readGroupsRequest(bytes);
    const groups = groupsIn(kv, headsOf(stream), withEmpty);
    return { result: groupsResult(context, page, groupNames(paged(groups, page))) };
  },
};

export const streamListAll: StoreCommand = {
  name: 'stream::list_all',
  isWrite: false,
  run(kv, bytes) {
    const { page, withEmpty } = readAllRequest(bytes);
    return { result: allResult(page, paged(streamsIn(kv, withEmpty), page)) };
  },
};

/** The items of a group in the order of their ids. */
function* itemsIn(kv: KvReader, { stream, group }: GroupRef, page: PageRequest): Iterable<FoundItem> {
  const { start, end } = itemsOf(stream, group);
  for (const { key, value } of kv.range(start, end, { offset: page.offset, limit: page.limitOrOneMore })) {
    const [, , id = ''] = namesIn(key);
    yield { id, data: value };
  }
}

interface KeyRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** Sorted by name. */
function* groupsIn(kv: KvReader, { start, end }: KeyRange, withEmpty: boolean): Iterable<GroupRef> {
  for (const { key, value } of kv.range(start, end)) {
    const { items, oldestKept, seq } = decodeHead(value);
    if (items === 0 && !(withEmpty && oldestKept <= seq)) continue;
    const [stream = '', group = ''] = namesIn(key);
    yield { stream, group };
  }
}

function* groupNames(groups: Iterable<GroupRef>): Iterable<string> {
  for (const { group } of groups) yield group;
}

/** Streams with their groups, both sorted by name. */
function* streamsIn(kv: KvReader, withEmpty: boolean): Iterable<StreamRow> {
  const { start, end } = allHeads();
  let row = firstStream(kv, { start, end }, withEmpty);
  while (row !== undefined) {
    yield row;
    row = firstStream(kv, { start: headsOf(row.id).end, end }, withEmpty);
  }
}

/** With one group more than the limit of a list; the rest is not read. */
function firstStream(kv: KvReader, heads: KeyRange, withEmpty: boolean): StreamRow | undefined {
  const groups: string[] = [];
  let id: string | undefined;
  for (const { stream, group } of groupsIn(kv, heads, withEmpty)) {
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

/**
 * The first messages of a subscriber, read at one moment (T3, T4). An internal command of the stream module. `result`
 * is the position of the group as epoch and number S. `events` is what to send: one event of kind `sync`, and then, for
 * a subscriber that reconnects and whose missed events are all kept, the events up to S.
 */
export const streamSubscribe: StoreCommand = {
  name: 'stream.subscribe',
  isWrite: false,
  run(kv, bytes, context) {
    const { since, isLive, ...subject } = readSubscribeRequest(bytes);
    const head = headOrNew(kv, subject.stream, subject.group);
    const isKnown = since?.epoch === context.epoch;
    if (isKnown && isLive && since.seq < head.bornAt) return restarted(context, subject, head);
    const isRecovered = isKnown && isCovered(head, since.seq);
    const events = isRecovered
      ? recovered(kv, context, subject, since.seq)
      : [snapshotEvent(context, subject, head.seq, contentOf(kv, subject))];
    return { result: positionResult(context.epoch, head.seq), events };
  },
};

/**
 * The group was removed while a subscriber was present, which has seen its whole earlier life and holds what follows.
 */
function restarted({ epoch, nowMs }: CommandContext, subject: Subject, { bornAt }: GroupHead): StoreReply {
  return { result: positionResult(epoch, bornAt), events: [recoveredEvent({ epoch, nowMs }, subject, bornAt)] };
}

/** Whether all events after `since` are kept. */
function isCovered(head: GroupHead, since: number): boolean {
  return since <= head.seq && since + 1 >= head.oldestKept;
}

function recovered(kv: KvReader, context: CommandContext, subject: Subject, since: number): StoreEvent[] {
  const { stream, group, item } = subject;
  const missed = eventsFrom(kv, stream, group, since + 1);
  return [
    recoveredEvent(context, subject, since),
    ...missed.filter(({ path }) => item === undefined || path[2] === item),
  ];
}

function contentOf(kv: KvReader, { stream, group, item }: Subject): Iterable<FoundItem> {
  if (item === undefined) return itemsIn(kv, { stream, group }, SNAPSHOT_PAGE);
  const data = readItem(kv, { stream, group, item });
  return data === undefined ? [] : [{ id: item, data }];
}
