// Fault 5: the disk fills up. The store refuses writes that grow before the disk is full (D4), because lmdb does not
// survive a full one.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directory, openTestStore } from '../../support/engine/running-store.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { isSkipped, mountingRefusal, SmallDisk } from '../../support/load/fault-tools.ts';
import { run } from '../../support/stores/store-commands.ts';
import { waitFor } from '../../support/wait-for.ts';

const MIB = 1024 * 1024;
test.skipIf(isSkipped('fault 5', mountingRefusal()))(
  '[D4] [fault 5] On a nearly full disk writes are refused, deletes continue, and writes resume when there is room again',
  { timeout: 60_000 },
  async () => {
    const line = faultLine('5', 'disk full', 'failures=0');
    using disk = SmallDisk.mount(64);
    if (disk === undefined) throw new Error('Mounting worked a moment ago');
    const ballast = join(disk.folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(24 * MIB));
    const folder = join(disk.folder, 'store');
    const opened = await openTestStore(directory(folder, 8 * MIB));
    const { store } = opened;
    const value = 'x'.repeat(60_000);
    const kept: string[] = [];
    const refusal = await waitFor('the disk is nearly full', async () => {
      const keys = Array.from({ length: 16 }, (_, index) => `key-${kept.length + index}`);
      const replies = await Promise.all(keys.map((key) => run(store, 'state::set', { scope: 's', key, value })));
      kept.push(...keys.filter((_, index) => replies[index]?.error === undefined));
      return replies.find(({ error }) => error !== undefined)?.error;
    });
    expect(refusal).toMatchObject({ code: 'STORAGE_FULL', message: expect.stringContaining('deleting still works') });
    expect(kept.length).toBeGreaterThan(50);
    const [first = '', ...rest] = kept;
    expect((await run(store, 'state::delete', { scope: 's', key: first })).value).toBe(value);
    await waitFor('health reports it', () => store.trouble !== undefined);
    rmSync(ballast);
    await waitFor('writes resume', async () => {
      const { error } = await run(store, 'state::set', { scope: 's', key: 'again', value });
      return error === undefined;
    });
    for (const key of rest) expect((await run(store, 'state::get', { scope: 's', key })).value).toBe(value);
    line.figure = `failures=${opened.failures.length}`;
    expect(opened.failures).toEqual([]);
    await opened.registry.close();
  },
);
