// `state::set`, `state::delete` and `state::update`: each is one atomic step.

import type { StoreCommand } from '../../thread/contract.ts';
import { keepJobs } from '../change-outbox/change-jobs.ts';
import { entryKey } from './keys.ts';
import { deleteReply, setReply, updated, updateReply } from './replies.ts';
import { readDeleteRequest, readSetRequest, readUpdateRequest } from './requests.ts';
import { checkCondition } from './versions.ts';

export const stateSet: StoreCommand = {
  name: 'state::set',
  isWrite: true,
  run(kv, bytes, world) {
    const asked = readSetRequest(bytes, world.limits);
    const at = entryKey(asked.scope, asked.key);
    const before = kv.get(at);
    checkCondition(asked.condition, before);
    kv.put(at, asked.value, world.nowMs);
    return keepJobs(kv, world, 'state', setReply(world, asked, before));
  },
};

export const stateDelete: StoreCommand = {
  name: 'state::delete',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const asked = readDeleteRequest(bytes);
    const at = entryKey(asked.scope, asked.key);
    const before = kv.get(at);
    checkCondition(asked.condition, before);
    if (before !== undefined) kv.remove(at);
    return keepJobs(kv, world, 'state', deleteReply(world, asked, before));
  },
};

/** Applies a list of operations to one value, in one step (S2). */
export const stateUpdate: StoreCommand = {
  name: 'state::update',
  isWrite: true,
  run(kv, bytes, world) {
    const asked = readUpdateRequest(bytes);
    const at = entryKey(asked.scope, asked.key);
    const before = kv.get(at);
    const outcome = updated(asked, before, world.limits);
    if (outcome.after !== undefined) kv.put(at, outcome.after, world.nowMs);
    return keepJobs(kv, world, 'state', updateReply(world, asked, before, outcome));
  },
};
