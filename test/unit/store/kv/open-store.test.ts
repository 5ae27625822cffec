import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DATA_FILE, FORMAT_FILE, offenceOfType } from '../../../../src/store/directory/store-folder.ts';
import { joinKey, SPACE } from '../../../../src/store/kv/keys.ts';
import { LmdbStore } from '../../../../src/store/kv/kv-lmdb.ts';
import { type OpenedStore, openStore } from '../../../../src/store/kv/open-store.ts';
import { directory } from '../../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../../support/engine/temporary-folder.ts';

const open = (folder: string, newEpoch = 'new') => openStore({ location: directory(folder, 0), newEpoch });

function opened(folder: string, newEpoch?: string): OpenedStore {
  const result = open(folder, newEpoch);
  if (!result.ok) throw new Error(result.message);
  return result;
}

const refusalOf = (folder: string): string => {
  const result = open(folder);
  return result.ok ? 'opened' : result.message;
};

describe('a store directory', () => {
  test('[D7] Only its owner may read it and its files', () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, 'a', 'b');
    opened(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o700);
    for (const file of [DATA_FILE, 'lock.mdb', FORMAT_FILE]) {
      expect(statSync(join(path, file)).mode & 0o777).toBe(0o600);
    }
  });

  test('[T4] It keeps its epoch', () => {
    using folder = new TemporaryFolder();
    const first = opened(folder.path, 'first');
    first.close();
    const second = opened(folder.path, 'second');
    expect([first.epoch, second.epoch]).toEqual(['first', 'first']);
    second.close();
  });

  test('[D10] A store of a newer format is refused and not changed', () => {
    using folder = new TemporaryFolder();
    opened(folder.path).close();
    const store = new LmdbStore({ folder: folder.path });
    store.write((kv) => kv.put(joinKey(SPACE.store, Buffer.from('format')), Buffer.from('3')));
    store.close();
    rmSync(join(folder.path, FORMAT_FILE));
    const before = readFileSync(join(folder.path, DATA_FILE));
    expect(refusalOf(folder.path)).toMatch(/has format 3, newer than 2/);
    expect(readFileSync(join(folder.path, DATA_FILE)).equals(before)).toBe(true);
  });

  test('[R5] A store with a missing or empty data file is not treated as new', () => {
    using folder = new TemporaryFolder();
    opened(folder.path).close();
    writeFileSync(join(folder.path, DATA_FILE), '');
    expect(refusalOf(folder.path)).toMatch(/is empty, although there was a store/);
    rmSync(join(folder.path, DATA_FILE));
    expect(refusalOf(folder.path)).toMatch(/is missing, although there was a store/);
  });

  test('[D1] A store whose data file is deleted or replaced while it is open accepts no writes', () => {
    using folder = new TemporaryFolder();
    const { store, space: room } = opened(folder.path);
    expect(room.left(0, 0)).toBe('plenty');
    rmSync(join(folder.path, DATA_FILE));
    expect(() => room.left(0, 0)).toThrow('ENOENT');
    writeFileSync(join(folder.path, DATA_FILE), 'of another program');
    expect(() => room.left(0, 0)).toThrow('was replaced while the engine ran');
    store.close();
  });

  test('[R5] A file that is not a store is refused and not changed', () => {
    using folder = new TemporaryFolder();
    mkdirSync(folder.path, { recursive: true });
    writeFileSync(join(folder.path, DATA_FILE), 'something else '.repeat(1_000));
    expect(refusalOf(folder.path)).toMatch(/is damaged: head 0 is not one of lmdb/);
    expect(readFileSync(join(folder.path, DATA_FILE), 'utf8')).toMatch(/^something else/);
  });

  test('[R5] A store that has lost its last transaction is refused', () => {
    using folder = new TemporaryFolder();
    opened(folder.path).close();
    const before = readFileSync(join(folder.path, DATA_FILE));
    const store = opened(folder.path);
    store.store.write((kv) => kv.put(Buffer.from('sx'), Buffer.from('y')));
    store.close();
    writeFileSync(join(folder.path, DATA_FILE), before);
    expect(refusalOf(folder.path)).toMatch(/was closed at transaction \d+ and is now at \d+/);
  });
});

test.each([
  ['NFS', 0x6969],
  ['CIFS', -11317950],
  ['SMB2', 0xfe534d42],
  ['9p', 0x01021997],
  ['FUSE', 0x65735546],
])('[D7] The file system %s is refused', (name, type) => {
  expect(offenceOfType(type)).toContain(name);
});

test.each([
  ['ext4', 0xef53],
  ['tmpfs', 0x01021994],
  ['xfs', 0x58465342],
  ['btrfs', 0x9123683e],
  ['overlay', 0x794c7630],
])('[D7] The file system %s is accepted', (_name, type) => {
  expect(offenceOfType(type)).toBeUndefined();
});
