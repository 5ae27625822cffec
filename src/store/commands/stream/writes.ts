// The stream commands that change something. Each is one atomic step: the item, its event and the number of the event
// together, or nothing (T1, T2).

import type { Kv } from '../../kv/kv.ts';
import type { CommandContext, LocalContext, StoreCommand, StoreEvent, StoreReply } from '../../thread/contract.ts';
import { keepJobs } from '../change-outbox/change-jobs.ts';
import { appendEvent, readItem } from './history.ts';
import { itemKey } from './keys.ts';
import { type ItemRef, triggerMessage } from './messages.ts';
import { deleteResult, sendResult, setResult, updated, updateResult } from './replies.ts';
import {
  readAnnounceRequest,
  readItemRequest,
  readSendRequest,
  readSetRequest,
  readUpdateRequest,
} from './requests.ts';

export const streamSet: StoreCommand = {
  name: 'stream::set',
  isWrite: true,
  run(kv, bytes, context) {
    const request = readSetRequest(bytes, context.limits);
    const old = readItem(kv, request);
    return withJobs(kv, context, {
      result: setResult(request, old),
      events: [putItem(kv, context, request, old, request.data)],
    });
  },
};

export const streamDelete: StoreCommand = {
  name: 'stream::delete',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const place = readItemRequest('stream::delete', bytes);
    const old = readItem(kv, place);
    if (old === undefined) return { result: deleteResult(old) };
    kv.remove(itemKey(place.stream, place.group, place.item));
    const event = appendEvent(kv, context, { ...place, kind: 'delete', payload: old, itemsChange: -1 });
    return withJobs(kv, context, { result: deleteResult(old), events: [event] });
  },
};

export const streamUpdate: StoreCommand = {
  name: 'stream::update',
  isWrite: true,
  run(kv, bytes, context) {
    const request = readUpdateRequest(bytes);
    const old = readItem(kv, request);
    const outcome = updated(request, old, context.limits);
    const result = updateResult(old, outcome);
    if (outcome.after === undefined) return { result };
    return withJobs(kv, context, { result, events: [putItem(kv, context, request, old, outcome.after)] });
  },
};

/** A custom event: numbered and kept like the others, without a change of an item. */
export const streamSend: StoreCommand = {
  name: 'stream::send',
  isWrite: true,
  run(kv, bytes, context) {
    const request = readSendRequest(bytes, context.limits);
    const events = [appendEvent(kv, context, { ...request, itemsChange: 0 })];
    return withJobs(kv, context, { result: sendResult(context), events });
  },
};

/**
 * A change that the functions of a custom stream made elsewhere. It is numbered and sent like one of ours; only the
 * event is stored. It cannot be refused for a job that a queue does not take: the result gives the reason, one line
 * each. An internal command.
 */
export const streamAnnounce: StoreCommand = {
  name: 'stream.announce',
  isWrite: true,
  run(kv, bytes, context) {
    const request = readAnnounceRequest(bytes, context.limits);
    const missing: string[] = [];
    const events = [appendEvent(kv, context, { ...request, itemsChange: 0 })];
    const reply = withJobs(kv, context, { events }, (reason) => missing.push(reason));
    return missing.length === 0 ? reply : { ...reply, result: Buffer.from(missing.join('\n')) };
  },
};

/** If a trigger names a queue, the event and its job are one transaction (S5). */
function withJobs(kv: Kv, context: LocalContext, reply: StoreReply, missing?: (reason: string) => void): StoreReply {
  return keepJobs(kv, context, 'stream', reply, (event) => triggerMessage(event, context.isDropIn), missing);
}

function putItem(kv: Kv, context: CommandContext, place: ItemRef, old: Buffer | undefined, data: Buffer): StoreEvent {
  const { stream, group, item } = place;
  kv.put(itemKey(stream, group, item), data);
  const kind = old === undefined ? 'create' : 'update';
  return appendEvent(kv, context, { stream, group, item, kind, payload: data, itemsChange: old === undefined ? 1 : 0 });
}
