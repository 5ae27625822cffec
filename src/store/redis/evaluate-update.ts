// The new value of an update, which an engine computes for a Redis. A large one is computed on a thread of the pool: a
// megabyte takes 8 ms, of which the router's thread keeps 0.6 ms for the copy.

import { Refusal } from '../../core/calls/refusal.ts';
import type { UpdateAnswer, UpdateTask } from '../../core/update-ops/update-task.ts';
import * as state from '../commands/state/replies.ts';
import * as stateRequests from '../commands/state/requests.ts';
import * as stream from '../commands/stream/replies.ts';
import * as streamRequests from '../commands/stream/requests.ts';
import { codeOf, STORE_LIMITS } from '../thread/contract.ts';

/** Below it, the way to another thread takes longer than the work. */
const LARGE_BYTES = 32 * 1024;

/** Computes it here, or on a thread of the pool. Throws or rejects with the refusal of an invalid operation. */
export function updateEvaluator(onPool: (task: UpdateTask) => Promise<UpdateAnswer>) {
  return (task: UpdateTask): state.Updated | Promise<state.Updated> => {
    const { input, before } = task;
    if (input.length + (before?.length ?? 0) < LARGE_BYTES) return evaluateUpdate(task);
    // A view would take all of its buffer to the thread.
    const copies = { input: new Uint8Array(input), before: before && new Uint8Array(before) };
    return onPool({ ...task, ...copies }).then(readAnswer);
  };
}

export function answerUpdate(task: UpdateTask): UpdateAnswer {
  try {
    return evaluateUpdate(task);
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.toBody() };
    throw error;
  }
}

function evaluateUpdate({ of, input, before, valueBytesMax }: UpdateTask): state.Updated {
  const limits = { ...STORE_LIMITS, stateValueBytes: valueBytesMax, streamValueBytes: valueBytesMax };
  const old = before && Buffer.from(before.buffer, before.byteOffset, before.length);
  if (of === 'state') return state.updated(stateRequests.readUpdateRequest(input), old, limits);
  return stream.updated(streamRequests.readUpdateRequest(input), old, limits);
}

function readAnswer(answer: UpdateAnswer): state.Updated {
  if ('refusal' in answer) throw new Refusal(codeOf(answer.refusal.code), answer.refusal.message);
  return { after: bufferOf(answer.after), failed: bufferOf(answer.failed) };
}

/** Over the way to this thread a buffer becomes an array of bytes. */
function bufferOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
