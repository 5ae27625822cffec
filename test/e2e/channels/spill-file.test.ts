// The file that holds what a slow reader has not read, on a real disk.

import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemRandom } from '../../../src/effects/random.ts';
import { type SpillFile, spillFilesIn } from '../../../src/effects/spill-file.ts';
import { forEachSeedInTurn } from '../../support/random/seeded-random.ts';
import { waitFor } from '../../support/wait-for.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-spill-test-'));
});
afterAll(() => rm(folder, { recursive: true }));

const open = (ringBytes: number): SpillFile => spillFilesIn(systemRandom, folder)(ringBytes);

/** Files without a name in our folder that this process holds open. */
function unlinkedFiles(): { descriptor: string; target: string }[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(folder) ? [{ descriptor, target }] : [];
    } catch {
      // The descriptor that read the list.
      return [];
    }
  });
}

describe('a spill file', () => {
  test('[CH4] [R6] has no name while it is open, so it disappears with the process', async () => {
    const file = open(MIB);
    file.append(new Uint8Array(100));
    expect(await readdir(folder)).toEqual([]);
    expect(unlinkedFiles().map(({ target }) => target)).toEqual([
      expect.stringMatching(/svc-\d+-[\da-f-]{36}\.spill \(deleted\)$/),
    ]);
    file.close();
    await waitFor('the file is closed', () => unlinkedFiles().length === 0);
  });

  test('[CH3] returns what was appended, in order, for any sizes and across the end of the ring', async () => {
    let wraps = 0;
    await forEachSeedInTurn(8, async (random) => {
      const ringBytes = random.between(300 * KIB, 900 * KIB);
      const file = open(ringBytes);
      const [putIn, takenOut] = [createHash('sha256'), createHash('sha256')];
      let [inside, total] = [0, 0];
      const take = async (): Promise<void> => {
        const bytes = await file.take(random.pick([1, 1000, 256 * KIB]));
        takenOut.update(bytes);
        inside -= bytes.length;
      };
      for (let step = 0; step < 300; step++) {
        const bytes = Buffer.alloc(random.pick([1, 4, 5000, 130 * KIB, 270 * KIB]), step);
        if (inside + bytes.length <= ringBytes && random.chance(60)) {
          file.append(bytes);
          putIn.update(bytes);
          inside += bytes.length;
          total += bytes.length;
        } else if (inside > 0) await take();
      }
      while (inside > 0) await take();
      expect(takenOut.digest('hex')).toBe(putIn.digest('hex'));
      wraps += Math.floor(total / ringBytes);
      file.close();
    });
    expect(wraps).toBeGreaterThan(5);
    await waitFor('the files are closed', () => unlinkedFiles().length === 0);
  });

  test('[CH4] never exceeds the size of its ring on the disk', async () => {
    const file = open(MIB);
    for (let round = 0; round < 10; round++) {
      file.append(new Uint8Array(700 * KIB));
      for (let rest = 700 * KIB; rest > 0; ) rest -= (await file.take(rest)).length;
    }
    const [descriptor] = unlinkedFiles();
    expect(statSync(`/proc/self/fd/${descriptor?.descriptor}`).size).toBeLessThanOrEqual(MIB);
    file.close();
    await waitFor('the file is closed', () => unlinkedFiles().length === 0);
  });

  test('[CH3] accepts far more at once than it stages in memory, without waiting for the disk', async () => {
    const file = open(32 * MIB);
    const bytes = Buffer.alloc(20 * MIB, 'spill');
    for (let at = 0; at < bytes.length; at += 64 * KIB) file.append(bytes.subarray(at, at + 64 * KIB));
    const pieces: Uint8Array[] = [];
    for (let rest = bytes.length; rest > 0; rest -= pieces.at(-1)?.length ?? rest)
      pieces.push(await file.take(256 * KIB));
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    file.close();
  });

  test('[CH3] lets a read wait until something is appended', async () => {
    const file = open(MIB);
    const taken = file.take(10);
    file.append(Uint8Array.of(1, 2, 3));
    expect(Buffer.concat([await taken])).toEqual(Buffer.of(1, 2, 3));
    file.close();
  });

  test('[CH4] may be closed during a write and a read; the descriptor closes after both', async () => {
    for (let round = 0; round < 20; round++) {
      const file = open(4 * MIB);
      file.append(new Uint8Array(2 * MIB));
      if (round % 2 === 0) void file.take(MIB);
      file.close();
    }
    await waitFor('the files are closed', () => unlinkedFiles().length === 0);
  });

  test('[CH3] names a missing folder in the error', () => {
    const missing = join(folder, 'missing');
    expect(() => spillFilesIn(systemRandom, missing)(MIB)).toThrow(
      `ENOENT: no such file or directory, open '${missing}`,
    );
  });
});
