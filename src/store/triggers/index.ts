// Durable triggers: `g`, id → the trigger as the engine wrote it (decisions 51).

import { CommandInput } from '../command-input.ts';
import type { StoreCommand } from '../contract.ts';
import { JsonList, pageOf } from '../json-list.ts';
import { joinKey, keysBelow, SPACE } from '../keys.ts';

const triggersPut: StoreCommand = {
  name: 'triggers::put',
  isWrite: true,
  run(kv, bytes) {
    kv.put(joinKey(SPACE.triggers, new CommandInput('triggers::put', bytes).name('id')), bytes);
    return {};
  },
};

const triggersRemove: StoreCommand = {
  name: 'triggers::remove',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes) {
    kv.remove(joinKey(SPACE.triggers, new CommandInput('triggers::remove', bytes).name('id')));
    return {};
  },
};

const triggersList: StoreCommand = {
  name: 'triggers::list',
  isWrite: false,
  run(kv, bytes) {
    const page = pageOf(new CommandInput('triggers::list', bytes));
    const { start, end } = keysBelow(SPACE.triggers);
    const list = new JsonList('triggers::list', page);
    for (const { value } of kv.range(start, end, { offset: page.offset, limit: page.limitOrOneMore })) list.add(value);
    return { result: list.end() };
  },
};

export const TRIGGER_COMMANDS: readonly StoreCommand[] = [triggersPut, triggersRemove, triggersList];
