// `stream.subscribe`: the first messages of a subscriber, read at one moment (T3, T4). An internal command of the
// stream module. `result` is the position of the group as epoch and number S. `events` is what to send: one event of
// kind `sync`, and then, for a subscriber that comes back and whose missed events are all kept, the events up to S.

import type { KvReader } from '../../kv/kv.ts';
import type { CommandWorld, StoreCommand, StoreEvent, StoreReply } from '../../thread/contract.ts';
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

/**
 * The group was removed while a subscriber was present, which has seen its whole earlier life and holds what follows.
 */
function begunAnew({ epoch, nowMs }: CommandWorld, subject: Subject, { bornAt }: GroupHead): StoreReply {
  return { result: positionResult(epoch, bornAt), events: [recoveredEvent({ epoch, nowMs }, subject, bornAt)] };
}

/** Whether all events after `since` are kept. */
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
