// The topics `streams` and `stream:<name>[/<group>]`: what the stream server sends and receives (STR-1, STR-2).

import { LIVE_VALUE_BYTES_MAX } from '../../../console-api/live.ts';
import type { RawJson } from '../../../protocol/json/byte-string.ts';
import type { StreamMessage } from '../../taps.ts';
import type { Desk } from '../desk.ts';
import { rawOfBytes } from '../facts/built-ins.ts';
import { objectText } from '../facts/json-text.ts';
import { isSystemStream } from '../routes/stream-routes.ts';
import type { Opening } from './topics.ts';

export interface StreamPlace {
  readonly stream?: string;
  readonly group?: string | undefined;
}

export function openStreams(
  { context, builtIns }: Desk,
  { topic, filter, subscription, failed }: Opening,
  { stream, group }: StreamPlace,
): void {
  if (!builtIns.has('stream::get')) {
    builtIns.text('stream::get', {}).catch(failed);
    return;
  }
  subscription.close = context.taps.streams.watch((message) => {
    if (stream !== undefined && message.stream !== stream) return;
    if (group !== undefined && message.group !== group) return;
    if (filter.direction !== undefined && message.direction !== filter.direction) return;
    if (stream === undefined && filter.system !== true && isSystemStream(message.stream)) return;
    subscription.push(messageText(message, context.router.nowMs));
  });
  subscription.opened(topic, null);
}

function messageText(message: StreamMessage, at: number): RawJson {
  const { direction, stream, group, item, event, body, seq, receivers } = message;
  const facts = {
    at,
    direction,
    stream,
    group,
    item: item ?? null,
    event,
    bytes: body.length,
    seq: seq ?? null,
    epoch: null,
    receivers,
  };
  return objectText(facts, body.length > LIVE_VALUE_BYTES_MAX ? {} : { payload: rawOfBytes(body) });
}
