// Fault 9, as it can happen here: a client reads a large scope page by page, slowly, while others write. No page keeps
// a snapshot open, so old pages are reused and the file does not grow without limit (D5).

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_FILE } from '../../../src/store/directory/store-folder.ts';
import { directory, openTestStore } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { run } from '../../support/stores/store-commands.ts';

const ENTRIES = rounds(20) * 1_000;
const PAGE = 1_000;

test('[D5] [S4] [fault 9] While a large scope is read in pages, writes continue and the file stays within twice its size', {
  timeout: 600_000,
}, async () => {
  const line = faultLine('9', 'long read', 'growth<2');
  using folder = new TemporaryFolder();
  const { store, registry } = await openTestStore(directory(folder.path));
  const write = (index: number, value: number) =>
    run(store, 'state::set', {
      scope: 'large',
      key: String(index).padStart(9, '0'),
      value: { value, text: 'x'.repeat(150) },
    });
  for (let start = 0; start < ENTRIES; start += PAGE) {
    await Promise.all(Array.from({ length: PAGE }, (_, index) => write(start + index, 0)));
  }
  const bytesBefore = statSync(join(folder.path, DATA_FILE)).size;
  let seen = 0;
  for (let offset = 0; offset < ENTRIES; offset += PAGE) {
    const { value } = await run(store, 'state::list', { scope: 'large', offset, limit: PAGE });
    seen += (value as unknown[]).length;
    for (let batch = 0; batch < 5; batch++) {
      await Promise.all(Array.from({ length: 200 }, (_, index) => write((offset + index * 7) % ENTRIES, offset)));
    }
  }
  line.figure = `growth=${(statSync(join(folder.path, DATA_FILE)).size / bytesBefore).toFixed(2)}`;
  expect(seen).toBe(ENTRIES);
  expect(statSync(join(folder.path, DATA_FILE)).size).toBeLessThan(2 * bytesBefore);
  await registry.close();
});
