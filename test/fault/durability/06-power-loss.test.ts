// Fault 6: a power failure. The system calls of a store that writes are recorded. From them the disk is rebuilt as it
// would be found after a cut at random points, with any part of what was not synced missing.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DATA_FILE, markFolder } from '../../../src/store/directory/store-folder.ts';
import { JOURNAL_FILES } from '../../../src/store/journal/journal.ts';
import { openStore } from '../../../src/store/kv/open-store.ts';
import { directory } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, isSkipped, rounds, tracingRefusal } from '../../support/load/fault-tools.ts';
import { imageAfter, keyOf, LAST, readTrace, stateAfter } from '../../support/load/power-loss.ts';

const WRITER = fileURLToPath(new URL('../../support/stores/store-writer-main.ts', import.meta.url));
const TRANSACTIONS = 80;
const NOTHING = new Uint8Array(0);
/** 200 at a hundred rounds. */
const CUTS = rounds(30) === 30 ? 30 : 2 * rounds(30);
const CALLS = 'trace=openat,lseek,write,writev,pwrite64,pwritev,fdatasync,fsync,ftruncate';

test.skipIf(isSkipped('fault 6', tracingRefusal()))(
  '[fault 6] [D1] [D9] After a power cut at any moment the store opens, and holds every acknowledged transaction whole',
  { timeout: 120_000 + CUTS * 2_000 },
  async () => {
    const line = faultLine('6', 'power loss', `opened=${CUTS},lost=0`);
    const random = faultRandom('6');
    using folder = new TemporaryFolder();
    const seed = random.below(1_000_000);
    const events = await record(join(realpathSync(folder.path), 'store'), seed);
    const opened = events.findIndex(({ kind }) => kind === 'done');
    expect(events.filter(({ kind }) => kind === 'done')).toHaveLength(TRANSACTIONS + 1);
    const place = join(folder.path, 'after');
    for (let cut = 1; cut <= CUTS; cut++) {
      const at = random.between(opened + 1, events.length);
      const { files, acknowledged } = imageAfter(events, at, random);
      rmSync(place, { recursive: true, force: true });
      mkdirSync(place);
      for (const [name, bytes] of files) writeFileSync(join(place, name), bytes);
      markFolder(place, { hasJournal: true });
      const { last, wrong } = readStore(place, seed);
      line.figure = `opened=${cut},lost=${Math.max(0, acknowledged - last)}`;
      expect(last, `cut after ${at} of ${events.length} calls`).toBeGreaterThanOrEqual(acknowledged);
      // A transaction in progress may be there too: then all of it.
      expect(last).toBeLessThanOrEqual(acknowledged + 1);
      expect(wrong).toEqual([]);
    }
  },
);

/** Every call on the data file and the journal, from the first on, and what was acknowledged between them. */
async function record(store: string, seed: number) {
  mkdirSync(store);
  const trace = `${store}.trace`;
  const program = [process.execPath, WRITER, store, String(TRANSACTIONS), String(seed)];
  const options = ['-f', '-y', '-xx', '-s', '2000000', '-e', CALLS, '-e', 'signal=none', '-o', trace];
  // It ends itself by a signal, which strace passes on.
  await new Promise((resolve) => execFile('strace', [...options, ...program], resolve));
  return readTrace(readFileSync(trace, 'utf8'), store, [DATA_FILE, ...JOURNAL_FILES]);
}

/** The last transaction in the store, and the names whose value does not match it. */
function readStore(folder: string, seed: number): { last: number; wrong: string[] } {
  const opened = openStore({ location: directory(folder, 0), newEpoch: 'epoch' });
  if (!opened.ok) throw new Error(opened.message);
  const read = (name: string): Uint8Array | undefined => opened.store.read((kv) => kv.get(keyOf(name)));
  try {
    const last = Number(Buffer.from(read(LAST) ?? NOTHING).toString());
    const wrong = [...stateAfter(last, seed)].filter(([name, value]) => !value.equals(read(name) ?? NOTHING));
    return { last, wrong: wrong.map(([name]) => name) };
  } finally {
    opened.close();
  }
}
