// `engine::channels::create`.

import { readPayload } from '../../core/read-payload.ts';
import { validateChannelsCreate } from '../../generated/engine-payloads.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';

export function channelsCreate(router: RouterPort): BuiltinDefinition {
  const id = 'engine::channels::create';
  return {
    id,
    description: 'Makes a channel for bytes and text, and returns a reference to each of its ends',
    handle: (payload) => router.channels.create(readPayload(id, validateChannelsCreate, payload).buffer_size),
  };
}
