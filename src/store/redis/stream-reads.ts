// Streams in Redis: the commands that read, and those that remove old events.

import { sweptResult } from '../commands/stream/history.ts';
import {
  type FoundItem,
  type ItemRef,
  recoveredEvent,
  SNAPSHOT_PAGE,
  snapshotEvent,
} from '../commands/stream/messages.ts';
import {
  allResult,
  getResult,
  groupsResult,
  listResult,
  positionResult,
  type StreamRow,
} from '../commands/stream/replies.ts';
import {
  readAllRequest,
  readGroupsRequest,
  readItemRequest,
  readListRequest,
  readSubscribeRequest,
  type SubscribeRequest,
} from '../commands/stream/requests.ts';
import type { CommandContext, GroupRef, StoreReply } from '../thread/contract.ts';
import { LIST_BYTES_MAX, LIST_ENTRIES_MAX, type PageRequest } from '../thread/json-list.ts';
import { entriesIn, type RedisAccess, type RedisCommand } from './commands.ts';
import { bytesIn, listIn, openValue, type StoredValue, textIn, wholeNumber } from './record.ts';
import { type Position, readEntry } from './stream-events.ts';
import { groupOf, groupsOf, itemKeys, operandsOf, sharedKeys } from './stream-keys.ts';
import { EVENTS_FROM, LIST_ITEMS, LIST_STREAMS, SUBSCRIBE, SWEEP_GROUP } from './stream-scripts.ts';
import type { HistoryPart, WatchedGroups } from './watched-groups.ts';

/** That are listed although they may hold no items. */
const GROUPS_WITH_EVENTS_MAX = 10_000;

export function streamReads(redis: RedisAccess, groups: WatchedGroups): Readonly<Record<string, RedisCommand>> {
  const { link, keyPrefix } = redis;
  const shared = sharedKeys(keyPrefix);
  /** They may hold items too. */
  const groupsWithEvents = async (): Promise<GroupRef[]> => {
    const due = listIn(await link.run(['ZRANGE', shared.due, '0', String(GROUPS_WITH_EVENTS_MAX - 1)]));
    return due.map((member) => groupOf(textIn(member)));
  };

  return {
    'stream::get': async (input, context) => {
      const { json } = await readStoredItem(redis, readItemRequest('stream::get', input));
      const result = getResult(context, json);
      return result === undefined ? {} : { result };
    },

    'stream::list': async (input, context) => {
      const request = readListRequest(input);
      const { items, ids } = itemKeys(keyPrefix, request);
      const { offset, limitOrOneMore } = request.page;
      const args = ['-', '+', String(offset), String(limitOrOneMore), String(LIST_BYTES_MAX)];
      return { result: listResult(context, request, itemsIn(await link.runScript(LIST_ITEMS, [items, ids], args))) };
    },

    'stream::list_groups': async (input, context) => {
      const { stream, page, withEmpty } = readGroupsRequest(input);
      const { offset, limitOrOneMore } = page;
      const limit = withEmpty ? ['0', String(offset + limitOrOneMore)] : [String(offset), String(limitOrOneMore)];
      const range = [...groupsOf(stream), 'BYLEX', 'LIMIT', ...limit];
      const found = listIn(await link.run(['ZRANGE', shared.groups, ...range]));
      const names = found.map((member) => groupOf(textIn(member)).group);
      if (!withEmpty) return { result: groupsResult(context, page, names) };
      const kept = (await groupsWithEvents()).filter((ref) => ref.stream === stream).map(({ group }) => group);
      return { result: groupsResult(context, page, pageIn(sortedOnce([...names, ...kept]), page)) };
    },

    'stream::list_all': async (input) => {
      const { page, withEmpty } = readAllRequest(input);
      const { offset, limitOrOneMore } = page;
      const rows = withEmpty ? [0, offset + limitOrOneMore] : [offset, limitOrOneMore];
      const limits = [...rows, LIST_ENTRIES_MAX + 1, LIST_BYTES_MAX].map(String);
      const found = rowsIn(await link.runScript(LIST_STREAMS, [shared.groups], limits));
      if (!withEmpty) return { result: allResult(page, found) };
      return { result: allResult(page, pageIn(withGroups(found, await groupsWithEvents()), page)) };
    },

    'stream.subscribe': async (input, context) => {
      const request = readSubscribeRequest(input);
      await groups.ready(request);
      const { at, reply } = await subscribe(redis, request, context);
      groups.begin(request, at);
      return reply;
    },

    'stream.sweep': async (_input, context) => {
      const limit = ['LIMIT', '0', String(SWEEP_GROUPS_MAX)];
      const due = listIn(await link.run(['ZRANGE', shared.due, '-inf', String(context.nowMs), 'BYSCORE', ...limit]));
      await Promise.all(
        due.map(async (member) => {
          const { keys, args } = operandsOf(redis, groupOf(textIn(member)), context);
          await link.runScript(SWEEP_GROUP, keys, args);
        }),
      );
      return { result: sweptResult(due.length) };
    },
  };
}

/** Groups of one run: other commands wait for it. */
const SWEEP_GROUPS_MAX = 500;

export async function readStoredItem({ link, keyPrefix }: RedisAccess, ref: ItemRef): Promise<StoredValue> {
  return openValue(await link.run(['HGET', itemKeys(keyPrefix, ref).items, ref.item]));
}

/** The kept events of the group from that number on. */
export async function readEventsFrom(
  redis: RedisAccess,
  ref: GroupRef,
  from: number,
  context: Pick<CommandContext, 'nowMs' | 'limits'>,
): Promise<HistoryPart> {
  const { keys, args } = operandsOf(redis, ref, context);
  const reply = await redis.link.runScript(EVENTS_FROM, keys, [...args, String(from)]);
  const [epoch, seq, tag, entries] = listIn(reply);
  const at = positionIn(epoch, seq, tag);
  return { at, events: listIn(entries).map((entry) => readEntry(ref, at.epoch, bytesIn(entry))) };
}

/** Begins a new epoch: subscribers with a number of the old one read again when they reconnect (T4). */
export async function beginEpoch({ link, keyPrefix, newTag }: RedisAccess): Promise<void> {
  await link.run(['SET', sharedKeys(keyPrefix).epoch, newTag()]);
}

async function subscribe(
  redis: RedisAccess,
  { since, ...subject }: SubscribeRequest,
  context: CommandContext,
): Promise<{ readonly at: Position; readonly reply: StoreReply }> {
  const { keys, args } = operandsOf(redis, subject, context);
  const { epoch: knownEpoch = '', seq: knownSeq = 0 } = since ?? {};
  const limits = [SNAPSHOT_PAGE.limitOrOneMore, LIST_BYTES_MAX].map(String);
  const operands = [...args, knownEpoch, String(knownSeq), subject.item ?? '', ...limits];
  const [epoch, seq, tag, isRecovered, found] = listIn(await redis.link.runScript(SUBSCRIBE, keys, operands));
  const at = positionIn(epoch, seq, tag);
  const moment = { nowMs: context.nowMs, epoch: at.epoch };
  const result = positionResult(at.epoch, at.seq);
  if (isRecovered !== 1) {
    return { at, reply: { result, events: [snapshotEvent(moment, subject, at.seq, itemsIn(found))] } };
  }
  const missed = listIn(found).map((entry) => readEntry(subject, at.epoch, bytesIn(entry)).event);
  const wanted = missed.filter(({ path: ref }) => subject.item === undefined || ref[2] === subject.item);
  return { at, reply: { result, events: [recoveredEvent(moment, subject, knownSeq), ...wanted] } };
}

function positionIn(epoch: unknown, seq: unknown, tag: unknown): Position {
  return { epoch: textIn(epoch), seq: wholeNumber(textIn(seq)), tag: textIn(tag) };
}

function itemsIn(found: unknown): FoundItem[] {
  return entriesIn(listIn(found)).map(({ key, value }) => ({ id: key.toString('utf8'), data: value }));
}

function pageIn<T>(all: readonly T[], { offset, limitOrOneMore }: PageRequest): readonly T[] {
  return all.slice(offset, offset + limitOrOneMore);
}

/** In the order of Redis, which is that of the bytes of names. */
function sortedOnce(names: readonly string[]): string[] {
  return [...new Set(names)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function withGroups(rows: readonly StreamRow[], added: readonly GroupRef[]): StreamRow[] {
  const groups = new Map(rows.map(({ id, groups: known }) => [id, known]));
  for (const { stream, group } of added) groups.set(stream, [...(groups.get(stream) ?? []), group]);
  return sortedOnce([...groups.keys()]).map((id) => ({ id, groups: sortedOnce(groups.get(id) ?? []) }));
}

function rowsIn(reply: unknown): StreamRow[] {
  const found = listIn(reply);
  const rows: StreamRow[] = [];
  for (let index = 0; index < found.length; index += 2) {
    rows.push({ id: textIn(found[index]), groups: listIn(found[index + 1]).map(textIn) });
  }
  return rows;
}
