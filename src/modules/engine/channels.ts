// `engine::channels::create`.

import { readPayload } from '../../core/calls/refusal.ts';
import { validateChannelsCreate } from '../../generated/module-payloads.ts';
import { SMALL_PAYLOAD_LIMITS } from '../../protocol/frames/limits.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';

export function channelsCreate(router: RouterPort): BuiltinDefinition {
  const id = 'engine::channels::create';
  return {
    id,
    description: 'Creates a channel for bytes and text, and returns a reference to each of its ends',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle: (payload, { rights }) =>
      router.channels.create(readPayload(id, validateChannelsCreate, payload).buffer_size, rights),
  };
}
