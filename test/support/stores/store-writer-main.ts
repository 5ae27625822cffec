// Writes transactions into a store, one after the other, and prints `done <n>` when the n-th is acknowledged.
// Arguments: folder, how many, seed. The n-th sets `last` to n, and some other keys to values computed from n.

import { writeSync } from 'node:fs';
import { openStore } from '../../../src/store/kv/open-store.ts';
import { directory } from '../engine/running-store.ts';
import { changesOf, keyOf, LAST } from '../load/power-loss.ts';

const [folder = '', count = '0', seed = '0'] = process.argv.slice(2);
// So small that both files of the journal are written several times, and some transactions go past it.
const journal = { fileBytes: 60_000, transactionBytes: 30_000, keys: 30, removals: 10, drainedKeys: 4 };
const opened = openStore({ location: directory(folder, 0), newEpoch: 'epoch', journal });
if (!opened.ok) throw new Error(opened.message);
writeSync(1, 'done 0\n');
for (let number = 1; number <= Number(count); number++) {
  opened.store.write((kv) => {
    for (const [name, value] of changesOf(number, Number(seed))) kv.put(keyOf(name), value);
    kv.put(keyOf(LAST), Buffer.from(String(number)));
  });
  writeSync(1, `done ${number}\n`);
}
// As when the power goes: nothing is closed.
process.kill(process.pid, 'SIGKILL');
