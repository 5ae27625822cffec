// The event of a change for the `state` trigger. It is written once, on the store's thread, and only if a trigger
// exists.

import type { CommandWorld, StoreEvent } from '../../thread/contract.ts';

export interface Change {
  readonly scope: Uint8Array;
  readonly key: Uint8Array;
  /** Values as JSON; `undefined`: there was, or is, no value. */
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

/** Empty if no trigger listens. */
export function changeEvents(world: CommandWorld, change: Change): readonly StoreEvent[] {
  if (!world.wantsEvents) return NONE;
  const scope = textOf(change.scope);
  const key = textOf(change.key);
  const kind = kindOf(world, change);
  const names = `{"type":"state","event_type":"${kind}","scope":${JSON.stringify(scope)},"key":${JSON.stringify(key)}`;
  const body = Buffer.concat([
    Buffer.from(`${names},"old_value":`),
    change.before ?? NULL,
    NEW_VALUE,
    change.after ?? NULL,
    Buffer.from(`,"timestamp":${Math.trunc(world.nowMs)}}`),
  ]);
  return [{ place: [scope, key], kind, seq: 0, body }];
}

/** The first write is an update like any other. `iii` has a separate event type for it (PD-3). */
function kindOf({ isDropIn }: CommandWorld, { before, after }: Change): string {
  if (after === undefined) return 'state:deleted';
  return isDropIn && before === undefined ? 'state:created' : 'state:updated';
}

const NONE: readonly StoreEvent[] = [];
const NULL = Buffer.from('null');
const NEW_VALUE = Buffer.from(',"new_value":');

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
