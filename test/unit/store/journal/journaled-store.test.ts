import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DATA_FILE } from '../../../../src/store/directory/store-folder.ts';
import { JOURNAL_FILES } from '../../../../src/store/journal/journal.ts';
import type { JournalLimits } from '../../../../src/store/journal/journaled-store.ts';
import { joinKey, SPACE } from '../../../../src/store/kv/keys.ts';
import type { Kv, KvReader } from '../../../../src/store/kv/kv.ts';
import { LmdbStore } from '../../../../src/store/kv/kv-lmdb.ts';
import { MemoryKv } from '../../../../src/store/kv/kv-memory.ts';
import { type OpenedStore, openStore } from '../../../../src/store/kv/open-store.ts';
import { checkStoreFile } from '../../../../src/store/kv/store-check.ts';
import { directory } from '../../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../../support/engine/temporary-folder.ts';
import { forEachSeed, SeededRandom } from '../../../support/random/seeded-random.ts';

/** Each of them is reached within a few transactions. */
const SMALL: JournalLimits = { fileBytes: 4_096, transactionBytes: 3_000, keys: 25, removals: 12, drainedKeys: 2 };
const FIRST = Buffer.from('s');
const END = Buffer.from('t');

test('[S4] [D1] Whatever is written, read, closed and cut off, the store holds what a map in memory holds', () => {
  forEachSeed(40, (random) => {
    using folder = new TemporaryFolder();
    const memory = new MemoryKv();
    let life = 0;
    let place = join(folder.path, String(life));
    let opened = open(place, SMALL);
    for (let step = 0; step < 60; step++) {
      opened.store.write((kv) => change([kv, memory], random));
      if (random.chance(20)) expect(() => opened.store.write((kv) => changeInVain(kv, random))).toThrow('no');
      const look = random.bits();
      const listed = opened.store.read((kv) => listing(kv, new SeededRandom(look)));
      expect(listed).toEqual(listing(memory, new SeededRandom(look)));
      switch (random.below(12)) {
        case 0:
          opened.close();
          opened = open(place, SMALL);
          break;
        case 1: {
          const next = join(folder.path, String(++life));
          opened = openAgain(opened, place, next);
          place = next;
          break;
        }
        case 2:
          opened.disk?.settle();
      }
    }
    opened.close();
    const closed = open(place);
    expect(closed.store.read(all)).toEqual(all(memory));
    closed.close();
  });
});

test('[S4] A key that is put where others were removed is found by a read from the beginning', () => {
  using folder = new TemporaryFolder();
  const opened = open(folder.path);
  const [start, end] = [keyOf('a'), keyOf('b')];
  const first = () =>
    opened.store.read((kv) => [...kv.keys(start, end, { limit: 1 })].map((key) => String(key.subarray(1))));
  opened.store.write((kv) => ['a1', 'a2', 'a3', 'a4'].forEach((name) => put(kv, name)));
  opened.store.write((kv) => ['a1', 'a2', 'a3'].forEach((name) => kv.remove(keyOf(name))));
  expect(first()).toEqual(['a4']);
  expect(first()).toEqual(['a4']);
  opened.store.write((kv) => put(kv, 'a2'));
  expect(first()).toEqual(['a2']);
  opened.store.write((kv) => kv.remove(keyOf('a2')));
  expect(first()).toEqual(['a4']);
  opened.close();
});

describe('A store in a directory', () => {
  test('[D1] Keeps its journal in files of mode 0600, and has none once it is closed', () => {
    using folder = new TemporaryFolder();
    const opened = open(folder.path);
    for (const name of JOURNAL_FILES) expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o600);
    opened.close();
    expect(readdirSync(folder.path).filter((name) => name.startsWith('journal'))).toEqual([]);
  });

  test('[D1] Brings what it holds in memory into the tree when it is idle', () => {
    using folder = new TemporaryFolder();
    const opened = open(folder.path);
    const entries = () => checkStoreFile(join(folder.path, DATA_FILE)).entries;
    const before = entries();
    opened.store.write((kv) => put(kv, 'a'));
    opened.disk?.settle();
    expect(entries()).toBe(before);
    opened.disk?.settle();
    expect(entries()).toBe(before + 1);
    opened.close();
  });

  test('[D1] Writes nothing to its tree for a key that was put and removed', () => {
    using folder = new TemporaryFolder();
    const opened = open(folder.path);
    const transaction = () => checkStoreFile(join(folder.path, DATA_FILE)).transaction;
    const before = transaction();
    opened.store.write((kv) => put(kv, 'a'));
    opened.store.write((kv) => expect(kv.remove(keyOf('a'))).toBe(true));
    expect(opened.disk?.pending.changes).toBe(0);
    opened.close();
    expect(transaction()).toBe(before);
  });

  test('[D1] Accepts no writes once a file of its journal was deleted or replaced', () => {
    using folder = new TemporaryFolder();
    const opened = open(folder.path);
    for (const name of JOURNAL_FILES) rmSync(join(folder.path, name));
    expect(() => opened.store.write((kv) => put(kv, 'a'))).toThrow('ENOENT');
    for (const name of JOURNAL_FILES) writeFileSync(join(folder.path, name), 'of another program');
    expect(() => opened.store.write((kv) => put(kv, 'a'))).toThrow('An earlier transaction of the store failed');
    opened.close();
  });

  test('[D9] Reads past a damaged record that was replaced or removed since', () => {
    using folder = new TemporaryFolder();
    const before = open(folder.path);
    before.store.write((kv) => ['a-bad', 'b-bad', 'c'].forEach((name) => put(kv, name)));
    before.close();
    const file = join(folder.path, DATA_FILE);
    writeFileSync(
      file,
      Buffer.from(
        readFileSync(file, 'latin1').replaceAll('-bada-bad', '-bada-bed').replaceAll('-badb-bad', '-badb-bed'),
        'latin1',
      ),
    );
    const opened = openStore({ location: directory(folder.path, 0), newEpoch: 'epoch', checksRecords: false });
    if (!opened.ok) throw new Error(opened.message);
    const values = () => opened.store.read((kv) => [...kv.range(FIRST, END)].map(({ value }) => String(value)));
    expect(values).toThrow('fails its checksum');
    opened.store.write((kv) => {
      put(kv, 'a-bad');
      kv.remove(keyOf('b-bad'));
    });
    expect(values()).toEqual(['a-bad', 'c']);
    opened.close();
  });

  test('[R5] Drops a last record that was cut short, and only that', () => {
    using folder = new TemporaryFolder();
    const copy = cutOff(folder, ['a', 'b']);
    editJournal(copy, (bytes) => bytes.fill(0, 520, 540));
    expect(keysAt(copy)).toEqual(['a']);
  });

  test('[R5] [D9] Is refused and left as it is when a record within the journal is damaged', () => {
    using folder = new TemporaryFolder();
    const copy = cutOff(folder, ['a', 'b', 'c']);
    editJournal(copy, (bytes) => bytes.fill(0, 520, 540));
    const before = readFileSync(join(copy, DATA_FILE));
    expect(refusalOf(copy)).toMatch(/is damaged: record 2 of its journal is damaged. Nothing in it was changed/);
    expect(readFileSync(join(copy, DATA_FILE)).equals(before)).toBe(true);
  });

  test.each(JOURNAL_FILES)('[R5] Is refused when its file %s is missing', (name) => {
    using folder = new TemporaryFolder();
    const copy = cutOff(folder, ['a']);
    rmSync(join(copy, name));
    expect(refusalOf(copy)).toMatch(/is damaged: one of its files journal-0 and journal-1 is missing/);
  });

  test('[D9] Does not take a value for a record of its journal, whatever is in it', () => {
    using folder = new TemporaryFolder();
    using other = new TemporaryFolder();
    const forged = journalOf(cutOff(other, ['forged']));
    const opened = open(join(folder.path, 'store'));
    // At some distance the value begins at a sector, and so does the record in it.
    for (let shift = 460; shift < 490; shift++) {
      opened.store.write((kv) =>
        kv.put(keyOf(`a${shift}`), Buffer.concat([Buffer.alloc(shift), forged.subarray(0, 512)])),
      );
    }
    const copy = join(folder.path, 'copy');
    cpSync(join(folder.path, 'store'), copy, { recursive: true });
    opened.close();
    // Its own records are lost, so that what lies in them is looked at.
    editJournal(copy, (bytes) => {
      for (let at = 0; at < bytes.length; at += 512)
        if (bytes.compare(bytes, 0, 8, at, at + 8) === 0 && at > 0) bytes[at + 8] = 0xff;
      bytes[8] = 0xff;
    });
    expect(keysAt(copy)).toEqual([]);
  });

  test('[D10] Of format 1, which has no journal, is read and becomes one of format 2', () => {
    using folder = new TemporaryFolder();
    const before = new LmdbStore({ folder: folder.path });
    before.write((kv) => {
      kv.put(joinKey(SPACE.store, Buffer.from('format')), Buffer.from('1'));
      kv.put(joinKey(SPACE.store, Buffer.from('epoch')), Buffer.from('the first'));
      put(kv, 'a');
    });
    before.close();
    const opened = open(folder.path);
    expect(opened.epoch).toBe('the first');
    opened.close();
    expect(keysAt(folder.path)).toEqual(['a']);
    const after = new LmdbStore({ folder: folder.path });
    expect(after.read((kv) => String(kv.get(joinKey(SPACE.store, Buffer.from('format')))))).toBe('2');
    after.close();
  });
});

function open(folder: string, journal?: JournalLimits): OpenedStore {
  const opened = openStore({ location: directory(folder, 0), newEpoch: 'epoch', ...(journal && { journal }) });
  if (!opened.ok) throw new Error(opened.message);
  return opened;
}

function refusalOf(folder: string): string {
  const opened = openStore({ location: directory(folder, 0), newEpoch: 'epoch' });
  return opened.ok ? 'opened' : opened.message;
}

/** As after a crash: the files as they are while the store is open. */
function openAgain(opened: OpenedStore, folder: string, copy: string): OpenedStore {
  cpSync(folder, copy, { recursive: true });
  opened.close();
  return open(copy, SMALL);
}

/** A folder as after a crash: each key is a transaction, in the journal alone. */
function cutOff(folder: TemporaryFolder, names: readonly string[]): string {
  const opened = open(join(folder.path, 'open'));
  for (const name of names) opened.store.write((kv) => put(kv, name));
  const copy = join(folder.path, 'cut-off');
  cpSync(join(folder.path, 'open'), copy, { recursive: true });
  opened.close();
  return copy;
}

function journalOf(folder: string): Buffer {
  return readFileSync(join(folder, JOURNAL_FILES[0]));
}

function editJournal(folder: string, edit: (bytes: Buffer) => void): void {
  const bytes = journalOf(folder);
  edit(bytes);
  writeFileSync(join(folder, JOURNAL_FILES[0]), bytes);
}

const keyOf = (name: string): Buffer => joinKey(SPACE.state, Buffer.from(name));
const put = (kv: Kv, name: string): void => kv.put(keyOf(name), Buffer.from(name));

function keysAt(folder: string): string[] {
  expect(existsSync(folder)).toBe(true);
  const opened = open(folder);
  const keys = opened.store.read((kv) => [...kv.keys(FIRST, END)].map((key) => String(key.subarray(1))));
  opened.close();
  return keys;
}

function change(maps: readonly Kv[], random: SeededRandom): void {
  for (let changes = random.below(9); changes > 0; changes--) {
    const key = Buffer.from(`s${random.pick(['a', 'b', 'c'])}\0${random.below(20)}`);
    const value = Buffer.alloc(random.chance(5) ? random.below(4_000) : random.below(90), String(changes));
    const isRemoved = random.chance(40);
    const writtenMs = random.chance(50) ? random.below(1e9) : undefined;
    const found = maps.map((map) => (isRemoved ? map.remove(key) : map.put(key, value, writtenMs)));
    expect(new Set(found).size).toBe(1);
  }
}

function changeInVain(kv: Kv, random: SeededRandom): never {
  change([kv], random);
  listing(kv, random);
  throw new Error('no');
}

/** One random range, and one random key. */
function listing(map: KvReader, random: SeededRandom): unknown {
  const key = () => Buffer.from(`s${random.pick(['a', 'b', 'c'])}\0${random.below(20)}`);
  const place = () => (random.chance(50) ? key() : Buffer.from(random.pick(['s', 'sa\0', 'sb\0', 'sc', 'sd', 't'])));
  const [start = FIRST, end = END] = [place(), place()].sort(Buffer.compare);
  const options = {
    isReverse: random.chance(50),
    ...(random.chance(50) && { limit: random.between(1, 9) }),
    ...(random.chance(50) && { offset: random.below(5) }),
  };
  return {
    range: [...map.range(start, end, options)].map(shown),
    keys: [...map.keys(start, end, options)].map(String),
    found: String(map.get(key())),
  };
}

function all(map: KvReader): string[] {
  return [...map.range(FIRST, END)].map(shown);
}

function shown({ key, value, writtenMs }: { key: Uint8Array; value: Uint8Array; writtenMs?: number | undefined }) {
  return `${String(key)}=${String(value)}@${writtenMs}`;
}
