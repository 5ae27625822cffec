// `stream.subscribe`: what a subscriber is sent first, read at one moment (T3, T4). An internal command of the stream
// module. `result` is where the group stood, as epoch and number S; `events` is what to send: one of kind `sync`, then,
// for somebody who comes back and has missed nothing that is not kept, the events up to S.

import type { CommandWorld, StoreCommand, StoreEvent, StoreReply } from '../contract.ts';
import type { KvReader } from '../kv.ts';
import { type GroupHead, headOrNew } from './group-head.ts';
import { eventsFrom, readItem } from './history.ts';
import { recoveredEvent, SNAPSHOT_PAGE, snapshotEvent } from './messages.ts';
import type { FoundItem, Subject } from './place.ts';
import { itemsIn } from './reads.ts';
import { positionResult } from './replies.ts';
import { readSubscribeRequest } from './requests.ts';

export const streamSubscribe: StoreCommand = {
  name: 'stream.subscribe',
  isWrite: false,
  run(kv, bytes, world) {
    const { since, isLive, ...subject } = readSubscribeRequest(bytes);
    const head = headOrNew(kv, subject.stream, subject.group);
    const isKnown = since?.epoch === world.epoch;
    if (isKnown && isLive && since.seq < head.bornAt) return begunAnew(world, subject, head);
    const isRecovered = isKnown && isCovered(head, since.seq);
    const events = isRecovered
      ? recovered(kv, world, subject, since.seq)
      : [snapshotEvent(world, subject, head.seq, contentOf(kv, subject))];
    return { result: positionResult(world.epoch, head.seq), events };
  },
};

/** The group was given up while somebody was there, who has seen all of its earlier life, and holds what follows. */
function begunAnew({ epoch, nowMs }: CommandWorld, subject: Subject, { bornAt }: GroupHead): StoreReply {
  return { result: positionResult(epoch, bornAt), events: [recoveredEvent({ epoch, nowMs }, subject, bornAt)] };
}

/** Whether all that happened after `since` is kept. */
function isCovered(head: GroupHead, since: number): boolean {
  return since <= head.seq && since + 1 >= head.oldestKept;
}

function recovered(kv: KvReader, world: CommandWorld, subject: Subject, since: number): StoreEvent[] {
  const { stream, group, item } = subject;
  const missed = eventsFrom(kv, stream, group, since + 1);
  return [
    recoveredEvent(world, subject, since),
    ...missed.filter(({ place }) => item === undefined || place[2] === item),
  ];
}

function contentOf(kv: KvReader, { stream, group, item }: Subject): Iterable<FoundItem> {
  if (item === undefined) return itemsIn(kv, { stream, group }, SNAPSHOT_PAGE);
  const data = readItem(kv, { stream, group, item });
  return data === undefined ? [] : [{ id: item, data }];
}
