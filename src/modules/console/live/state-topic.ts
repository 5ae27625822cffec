// The topic `state:<scope>`: changes that callers of this engine make (STA-4).

import { LIVE_VALUE_BYTES_MAX } from '../../../console-api/live.ts';
import { type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';
import { typeOf } from '../../../store/commands/state/previews.ts';
import { versionOf } from '../../../store/commands/state/versions.ts';
import { CommandInput } from '../../../store/thread/command-input.ts';
import type { StoreEvent } from '../../../store/thread/contract.ts';
import type { Desk } from '../desk.ts';
import { rawOfBytes } from '../facts/built-ins.ts';
import { objectText } from '../facts/json-text.ts';
import type { Opening } from './topics.ts';

export function openState(
  { context, builtIns }: Desk,
  { topic, filter, subscription, failed }: Opening,
  scope: string,
) {
  if (!builtIns.has('state::get')) {
    builtIns.text('state::get', {}).catch(failed);
    return;
  }
  subscription.close = context.taps.state.watch((event) => {
    const [eventScope, key = ''] = event.place;
    if (eventScope !== scope) return;
    if (filter.key !== undefined && key !== filter.key) return;
    if (filter.prefix !== undefined && !key.startsWith(filter.prefix)) return;
    subscription.push(changeText(event, context.router.nowMs));
  });
  subscription.opened(topic, null);
}

const NULL = Buffer.from('null');

function changeText(event: StoreEvent, at: number): RawJson {
  const [scope = '', key = ''] = event.place;
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
