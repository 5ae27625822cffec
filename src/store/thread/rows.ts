// Rows of the engine's own data: written whole under an id, removed by id, and listed in pages.

import { joinKey, keysBelow, type Space } from '../kv/keys.ts';
import { CommandInput } from './command-input.ts';
import type { StoreCommand } from './contract.ts';
import { JsonList, pageOf } from './json-list.ts';

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
