// Streams in Redis: the commands that change them. Each is one script; the events for subscribers are built from its
// answer.

import { Refusal } from '../../core/calls/refusal.ts';
import type { GroupPlace, ItemPlace } from '../commands/stream/place.ts';
import { deleteResult, sendResult, setResult, updated, updateResult } from '../commands/stream/replies.ts';
import {
  type EventRequest,
  readAnnounceRequest,
  readItemRequest,
  readSendRequest,
  readSetRequest,
  readUpdateRequest,
} from '../commands/stream/requests.ts';
import type { CommandWorld, StoreEvent, StoreReply } from '../thread/contract.ts';
import { ATTEMPTS_MAX, type CommandParts, type ExtCommand } from './commands.ts';
import { listIn, openValue, type StoredValue, textIn, WHATEVER } from './record.ts';
import { type EventFacts, type Position, storeEvent, wholeNumber } from './stream-events.ts';
import { memberOf } from './stream-keys.ts';
import { operandsOf } from './stream-operands.ts';
import { readStoredItem } from './stream-reads.ts';
import { APPEND_EVENT, PUT_ITEM, TAKE_ITEM } from './stream-scripts.ts';
import type { WatchedGroups } from './watched-groups.ts';

export function streamWrites(parts: CommandParts, groups: WatchedGroups): Readonly<Record<string, ExtCommand>> {
  const { lanes } = parts;
  const writer = new GroupWriter(parts, groups);
  const append = async (asked: EventRequest, world: CommandWorld) =>
    await lanes.pass(memberOf(asked), () => writer.append(asked, world));

  return {
    'stream::set': async (input, world) => {
      const asked = readSetRequest(input, world.limits);
      const put = await lanes.pass(memberOf(asked), () => writer.put(asked, asked.data, WHATEVER, world));
      return { result: setResult(asked, put.found.json), events: put.events };
    },

    'stream::delete': async (input, world) => {
      const place = readItemRequest('stream::delete', input);
      const { found, events } = await lanes.pass(memberOf(place), () => writer.take(place, world));
      return { result: deleteResult(found.json), events };
    },

    'stream::update': async (input, world) => {
      const asked = readUpdateRequest(input);
      return await lanes.hold(memberOf(asked), async (): Promise<StoreReply> => {
        let old = await readStoredItem(parts, asked);
        for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
          const outcome = updated(asked, old.json, world.limits);
          const result = updateResult(old.json, outcome);
          if (outcome.data === undefined) return { result };
          const put = await writer.put(asked, outcome.data, old.tag, world);
          if (put.isDone) return { result, events: put.events };
          old = put.found;
        }
        throw new Refusal('OVERLOADED', `Other engines change this item all the time: tried ${ATTEMPTS_MAX} times`);
      });
    },

    'stream::send': async (input, world) => {
      const events = await append(readSendRequest(input, world.limits), world);
      return { result: sendResult(world), events };
    },

    'stream.announce': async (input, world) => ({
      events: await append(readAnnounceRequest(input, world.limits), world),
    }),
  };
}

interface Change {
  /** The value that is, or was, there. */
  readonly found: StoredValue;
  readonly events: readonly StoreEvent[];
}

const NO_CHANGE = { isDone: false, events: [] };

class GroupWriter {
  readonly #parts: CommandParts;
  readonly #groups: WatchedGroups;

  constructor(parts: CommandParts, groups: WatchedGroups) {
    this.#parts = parts;
    this.#groups = groups;
  }

  /** `expected`: the write that must have written the present value. */
  async put(
    place: ItemPlace,
    payload: Buffer,
    expected: string,
    world: CommandWorld,
  ): Promise<Change & { readonly isDone: boolean }> {
    const { tag, keys, args } = this.#operands(place, world);
    const reply = await this.#parts.link.runScript(PUT_ITEM, keys, [...args, place.item, payload, expected]);
    const [isDone, old, epoch, seq] = listIn(reply);
    const found = openValue(old);
    if (isDone !== 1) return { ...NO_CHANGE, found };
    const kind = found.json === undefined ? 'create' : 'update';
    const facts = { at: positionIn(epoch, seq, tag), kind, nowMs: world.nowMs, item: place.item, payload } as const;
    return { isDone: true, found, events: await this.#settled(place, facts) };
  }

  async take(place: ItemPlace, world: CommandWorld): Promise<Change> {
    const { tag, keys, args } = this.#operands(place, world);
    const taken = await this.#parts.link.runScript(TAKE_ITEM, keys, [...args, place.item]);
    if (taken === null) return { ...NO_CHANGE, found: openValue(null) };
    const [old, epoch, seq] = listIn(taken);
    const found = openValue(old);
    const payload = found.json ?? Buffer.alloc(0);
    const at = positionIn(epoch, seq, tag);
    const facts = { at, kind: 'delete', nowMs: world.nowMs, item: place.item, payload } as const;
    return { found, events: await this.#settled(place, facts) };
  }

  async append(asked: EventRequest, world: CommandWorld): Promise<readonly StoreEvent[]> {
    const { kind, payload, item = '' } = asked;
    const { tag, keys, args } = this.#operands(asked, world);
    const reply = await this.#parts.link.runScript(APPEND_EVENT, keys, [...args, item, kind, payload]);
    const [epoch, seq] = listIn(reply);
    return await this.#settled(asked, { at: positionIn(epoch, seq, tag), kind, nowMs: world.nowMs, item, payload });
  }

  #operands(place: GroupPlace, world: CommandWorld) {
    const tag = this.#parts.newTag();
    return { tag, ...operandsOf(this.#parts, place, world, tag) };
  }

  /** The event of a change, after all followers of the group in this engine have received it (T1). */
  async #settled(place: GroupPlace, facts: EventFacts): Promise<readonly StoreEvent[]> {
    const event = storeEvent(place, facts);
    await this.#groups.settle(place, { at: facts.at, event });
    return [event];
  }
}

function positionIn(epoch: unknown, seq: unknown, tag: string): Position {
  return { epoch: textIn(epoch), seq: wholeNumber(textIn(seq)), tag };
}
