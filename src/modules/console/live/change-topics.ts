// The topic `state:<scope>`: changes that callers of this engine make (STA-4). The topics `streams` and
// `stream:<name>[/<group>]`: what the stream server sends and receives (STR-1, STR-2).

import { LIVE_VALUE_BYTES_MAX } from '../../../console/api/live.ts';
import { type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';
import { typeOf } from '../../../store/commands/state/previews.ts';
import { versionOf } from '../../../store/commands/state/requests.ts';
import { CommandInput } from '../../../store/thread/command-input.ts';
import type { StoreEvent } from '../../../store/thread/contract.ts';
import type { StreamMessage } from '../../taps.ts';
import type { ConsoleContext } from '../console-context.ts';
import { isSystemStream } from '../routes/stream-routes.ts';
import { rawOfBytes } from '../sources/built-ins.ts';
import { objectText } from '../sources/json-text.ts';
import type { Opening } from './subscription.ts';

export function openState(
  { module, builtIns }: ConsoleContext,
  { topic, filter, subscription, failed }: Opening,
  scope: string,
) {
  if (!builtIns.has('state::get')) {
    builtIns.text('state::get', {}).catch(failed);
    return;
  }
  subscription.close = module.taps.state.watch((event) => {
    const [eventScope, key = ''] = event.path;
    if (eventScope !== scope) return;
    if (filter.key !== undefined && key !== filter.key) return;
    if (filter.prefix !== undefined && !key.startsWith(filter.prefix)) return;
    subscription.push(changeText(event, module.router.nowMs));
  });
  subscription.opened(topic, null);
}

const NULL = Buffer.from('null');

function changeText(event: StoreEvent, at: number): RawJson {
  const [scope = '', key = ''] = event.path;
  const input = new CommandInput('the change', event.body);
  const [before, after] = [input.json('old_value') ?? NULL, input.json('new_value') ?? NULL];
  const isDeleted = event.kind === 'state:deleted';
  const facts = {
    at,
    scope,
    key,
    change: isDeleted ? 'deleted' : 'set',
    version: isDeleted ? null : versionOf(after),
    type: isDeleted ? null : typeOf(after),
    size: isDeleted ? 0 : after.length,
    old_size: before.length,
  };
  return objectText(facts, { ...small('old_value', before), ...small('new_value', after) });
}

function small(name: string, value: Buffer): Record<string, RawJson> {
  if (value.length > LIVE_VALUE_BYTES_MAX) return {};
  return { [name]: value === NULL ? rawJson(null) : rawOfBytes(value) };
}

export interface StreamPlace {
  readonly stream?: string;
  readonly group?: string | undefined;
}

export function openStreams(
  { module, builtIns }: ConsoleContext,
  { topic, filter, subscription, failed }: Opening,
  { stream, group }: StreamPlace,
): void {
  if (!builtIns.has('stream::get')) {
    builtIns.text('stream::get', {}).catch(failed);
    return;
  }
  subscription.close = module.taps.streams.watch((message) => {
    if (stream !== undefined && message.stream !== stream) return;
    if (group !== undefined && message.group !== group) return;
    if (filter.direction !== undefined && message.direction !== filter.direction) return;
    if (stream === undefined && filter.system !== true && isSystemStream(message.stream)) return;
    subscription.push(messageText(message, module.router.nowMs));
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
