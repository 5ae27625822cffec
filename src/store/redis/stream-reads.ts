// Streams in Redis: the commands that read, and those that remove old events.

import { recoveredEvent, SNAPSHOT_PAGE, snapshotEvent } from '../commands/stream/messages.ts';
import type { FoundItem, GroupPlace, ItemPlace } from '../commands/stream/place.ts';
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
import { sweptResult } from '../commands/stream/sweep.ts';
import type { CommandWorld, StoreReply } from '../thread/contract.ts';
import { LIST_BYTES_MAX, LIST_ENTRIES_MAX } from '../thread/json-list.ts';
import { type CommandParts, type ExtCommand, entriesIn } from './commands.ts';
import { bytesIn, listIn, openValue, type StoredValue, textIn } from './record.ts';
import { type Position, readEntry, wholeNumber } from './stream-events.ts';
import { groupsOf, itemKeys, placeOf, sharedKeys } from './stream-keys.ts';
import { operandsOf } from './stream-operands.ts';
import { EVENTS_FROM, LIST_ITEMS, LIST_STREAMS, SUBSCRIBE, SWEEP_GROUP } from './stream-scripts.ts';
import type { HistoryPart } from './watched-group.ts';
import type { WatchedGroups } from './watched-groups.ts';

export function streamReads(parts: CommandParts, groups: WatchedGroups): Readonly<Record<string, ExtCommand>> {
  const { link, keyPrefix } = parts;
  const shared = sharedKeys(keyPrefix);

  return {
    'stream::get': async (input, world) => {
      const { json } = await readStoredItem(parts, readItemRequest('stream::get', input));
      const result = getResult(world, json);
      return result === undefined ? {} : { result };
    },

    'stream::list': async (input, world) => {
      const asked = readListRequest(input);
      const { items, ids } = itemKeys(keyPrefix, asked);
      const { offset, limitOrOneMore } = asked.page;
      const args = ['-', '+', String(offset), String(limitOrOneMore), String(LIST_BYTES_MAX)];
      return { result: listResult(world, asked, itemsIn(await link.runScript(LIST_ITEMS, [items, ids], args))) };
    },

    'stream::list_groups': async (input, world) => {
      const { stream, page } = readGroupsRequest(input);
      const limit = ['LIMIT', String(page.offset), String(page.limitOrOneMore)];
      const found = listIn(await link.run(['ZRANGE', shared.groups, ...groupsOf(stream), 'BYLEX', ...limit]));
      const names = found.map((member) => placeOf(textIn(member)).group);
      return { result: groupsResult(world, page, names) };
    },

    'stream::list_all': async (input) => {
      const page = readAllRequest(input);
      const limits = [page.offset, page.limitOrOneMore, LIST_ENTRIES_MAX + 1, LIST_BYTES_MAX].map(String);
      return { result: allResult(page, rowsIn(await link.runScript(LIST_STREAMS, [shared.groups], limits))) };
    },

    'stream.subscribe': async (input, world) => {
      const asked = readSubscribeRequest(input);
      await groups.ready(asked);
      const { at, reply } = await subscribe(parts, asked, world);
      groups.begin(asked, at);
      return reply;
    },

    'stream.sweep': async (_input, world) => {
      const limit = ['LIMIT', '0', String(SWEEP_GROUPS_MAX)];
      const due = listIn(await link.run(['ZRANGE', shared.due, '-inf', String(world.nowMs), 'BYSCORE', ...limit]));
      await Promise.all(
        due.map(async (member) => {
          const { keys, args } = operandsOf(parts, placeOf(textIn(member)), world);
          await link.runScript(SWEEP_GROUP, keys, args);
        }),
      );
      return { result: sweptResult(due.length) };
    },
  };
}

/** Groups of one run: other commands wait for it. */
const SWEEP_GROUPS_MAX = 500;

export async function readStoredItem({ link, keyPrefix }: CommandParts, place: ItemPlace): Promise<StoredValue> {
  return openValue(await link.run(['HGET', itemKeys(keyPrefix, place).items, place.item]));
}

/** The kept events of the group from that number on. */
export async function readEventsFrom(
  parts: CommandParts,
  place: GroupPlace,
  from: number,
  world: Pick<CommandWorld, 'nowMs' | 'limits'>,
): Promise<HistoryPart> {
  const { keys, args } = operandsOf(parts, place, world);
  const reply = await parts.link.runScript(EVENTS_FROM, keys, [...args, String(from)]);
  const [epoch, seq, tag, entries] = listIn(reply);
  const at = positionIn(epoch, seq, tag);
  return { at, events: listIn(entries).map((entry) => readEntry(place, at.epoch, bytesIn(entry))) };
}

/** Begins a new epoch: subscribers with a number of the old one read again when they come back (T4). */
export async function beginEpoch({ link, keyPrefix, newTag }: CommandParts): Promise<void> {
  await link.run(['SET', sharedKeys(keyPrefix).epoch, newTag()]);
}

async function subscribe(
  parts: CommandParts,
  { since, ...subject }: SubscribeRequest,
  world: CommandWorld,
): Promise<{ readonly at: Position; readonly reply: StoreReply }> {
  const { keys, args } = operandsOf(parts, subject, world);
  const { epoch: knownEpoch = '', seq: knownSeq = 0 } = since ?? {};
  const limits = [SNAPSHOT_PAGE.limitOrOneMore, LIST_BYTES_MAX].map(String);
  const asked = [...args, knownEpoch, String(knownSeq), subject.item ?? '', ...limits];
  const [epoch, seq, tag, isRecovered, found] = listIn(await parts.link.runScript(SUBSCRIBE, keys, asked));
  const at = positionIn(epoch, seq, tag);
  const moment = { nowMs: world.nowMs, epoch: at.epoch };
  const result = positionResult(at.epoch, at.seq);
  if (isRecovered !== 1) {
    return { at, reply: { result, events: [snapshotEvent(moment, subject, at.seq, itemsIn(found))] } };
  }
  const missed = listIn(found).map((entry) => readEntry(subject, at.epoch, bytesIn(entry)).event);
  const wanted = missed.filter(({ place }) => subject.item === undefined || place[2] === subject.item);
  return { at, reply: { result, events: [recoveredEvent(moment, subject, knownSeq), ...wanted] } };
}

function positionIn(epoch: unknown, seq: unknown, tag: unknown): Position {
  return { epoch: textIn(epoch), seq: wholeNumber(textIn(seq)), tag: textIn(tag) };
}

function itemsIn(found: unknown): FoundItem[] {
  return entriesIn(listIn(found)).map(({ key, value }) => ({ id: key.toString('utf8'), data: value }));
}

function rowsIn(reply: unknown): StreamRow[] {
  const found = listIn(reply);
  const rows: StreamRow[] = [];
  for (let index = 0; index < found.length; index += 2) {
    rows.push({ id: textIn(found[index]), groups: listIn(found[index + 1]).map(textIn) });
  }
  return rows;
}
