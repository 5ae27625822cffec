// The engine's own data: rows that are written whole under an id, removed by id and listed in pages; and secrets that
// the engine generates. The key of a secret is `k` and its name; the value is written once.

import { joinKey, keysBelow, SPACE, type Space } from '../kv/keys.ts';
import { CommandInput } from '../thread/command-input.ts';
import type { StoreCommand } from '../thread/contract.ts';
import { JsonList, pageOf } from '../thread/json-list.ts';

/** The commands `put`, `remove` and `list` of one kind of rows. */
export function rowCommands(space: Space, kind: string): readonly StoreCommand[] {
  const [put, remove, list] = [`${kind}::put`, `${kind}::remove`, `${kind}::list`];
  return [
    {
      name: put,
      isWrite: true,
      run(kv, bytes) {
        kv.put(joinKey(space, new CommandInput(put, bytes).name('id')), bytes);
        return {};
      },
    },
    {
      name: remove,
      isWrite: true,
      usesReserve: true,
      run(kv, bytes) {
        kv.remove(joinKey(space, new CommandInput(remove, bytes).name('id')));
        return {};
      },
    },
    {
      name: list,
      isWrite: false,
      run(kv, bytes) {
        const page = pageOf(new CommandInput(list, bytes));
        const { start, end } = keysBelow(space);
        const rows = new JsonList(list, page);
        for (const { value } of kv.range(start, end, { offset: page.offset, limit: page.limitOrOneMore })) {
          rows.add(value);
        }
        return { result: rows.end() };
      },
    },
  ];
}

/** Returns the value under the name: the one kept before, or else the given one. */
export const secretsKeep: StoreCommand = {
  name: 'secrets::keep',
  isWrite: true,
  // A few bytes, once in the life of a store: an engine with a full disk starts as usual.
  usesReserve: true,
  run(kv, bytes) {
    const key = joinKey(SPACE.secrets, new CommandInput('secrets::keep', bytes).name('name'));
    const kept = kv.get(key);
    if (kept !== undefined) return { result: kept };
    kv.put(key, bytes);
    return { result: bytes };
  },
};
