// The content of a disk after a power cut, computed from the system calls of a program: synced data is there, and data
// that was only written is there or not, sector by sector, at random.

import { join } from 'node:path';
import { joinKey, SPACE } from '../../../src/store/kv/keys.ts';
import { SeededRandom } from '../random/seeded-random.ts';

export const LAST = 'last';
const KEYS = 40;
const SECTOR = 512;

export const keyOf = (name: string): Buffer => joinKey(SPACE.state, Buffer.from('scope'), Buffer.from(name));

/** What the n-th transaction writes in every run: small values, and sometimes a value of many pages. */
export function changesOf(number: number, seed: number): Map<string, Buffer> {
  const random = new SeededRandom(seed * 7_919 + number);
  const changes = new Map<string, Buffer>();
  for (let change = random.between(1, 6); change > 0; change--) {
    const bytes = random.chance(10) ? random.between(5_000, 40_000) : random.between(1, 900);
    changes.set(`key-${random.below(KEYS)}`, Buffer.alloc(bytes, `${number}.${change};`));
  }
  return changes;
}

/** Everything there is after the first `count` transactions. */
export function stateAfter(count: number, seed: number): Map<string, Buffer> {
  const state = new Map<string, Buffer>();
  for (let number = 1; number <= count; number++) {
    for (const [name, value] of changesOf(number, seed)) state.set(name, value);
    state.set(LAST, Buffer.from(String(number)));
  }
  return state;
}

/** `file`: its name within the folder. */
export type DiskEvent =
  | DiskWrite
  | { readonly kind: 'create'; readonly file: string }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'done'; readonly number: number };

interface DiskWrite {
  readonly kind: 'write';
  readonly file: string;
  readonly at: number;
  readonly bytes: Buffer;
  readonly isSynced: boolean;
}

/**
 * Reads what `strace -f -y -xx` wrote of the files with these names in that folder, and of what the program said. In
 * the order in which calls ended.
 */
export function readTrace(text: string, folder: string, names: readonly string[]): DiskEvent[] {
  const unfinished = new Map<string, string>();
  const reader = new CallReader(folder, names);
  return text.split('\n').flatMap((line) => {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      return [];
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(rest);
    return reader.read(resumed === null ? rest : `${unfinished.get(thread)}${resumed[1]}`);
  });
}

class CallReader {
  /** Paths of the files, and their names. */
  readonly #files: ReadonlyMap<string, string>;
  /** Descriptors whose every write is on the disk when it returns. */
  readonly #synced = new Set<string>();
  /** Where the next plain write of a descriptor goes. */
  readonly #places = new Map<string, number>();

  constructor(folder: string, names: readonly string[]) {
    this.#files = new Map(names.map((name) => [join(folder, name), name]));
  }

  read(call: string): DiskEvent[] {
    if (call.startsWith('openat(')) return this.#open(call);
    const [, name = '', fd = '', path = '', rest = ''] = /^(\w+)\((\d+)<([^>]*)>(.*)$/s.exec(call) ?? [];
    if (name === 'write' && fd === '1') {
      const number = /^done (\d+)/.exec(unhex(rest).toString())?.[1];
      return number === undefined ? [] : [{ kind: 'done', number: Number(number) }];
    }
    const file = this.#files.get(pathIn(path));
    if (file === undefined) return [];
    const result = Number(/\)\s+= (\d+)$/.exec(call)?.[1]);
    switch (name) {
      case 'fdatasync':
      case 'fsync':
        return [{ kind: 'sync', file }];
      case 'lseek':
        this.#places.set(fd, result);
        return [];
      case 'write':
      case 'writev': {
        const at = this.#places.get(fd) ?? 0;
        this.#places.set(fd, at + result);
        return [this.#written(file, fd, at, rest, result)];
      }
      case 'pwrite64':
      case 'pwritev':
        // The place is the last argument.
        return [this.#written(file, fd, Number(/, (\d+)\)\s+= \d+$/.exec(call)?.[1]), rest, result)];
      default:
        throw new Error(`A call that is not understood: ${call.slice(0, 200)}`);
    }
  }

  #open(call: string): DiskEvent[] {
    const [, fd = '', path = ''] = /= (\d+)<([^>]*)>$/.exec(call) ?? [];
    this.#places.delete(fd);
    const file = this.#files.get(pathIn(path));
    if (file !== undefined && /O_D?SYNC/.test(call)) this.#synced.add(fd);
    else this.#synced.delete(fd);
    return file !== undefined && call.includes('O_CREAT') ? [{ kind: 'create', file }] : [];
  }

  #written(file: string, fd: string, at: number, strings: string, length: number): DiskEvent {
    const bytes = unhex(strings);
    if (bytes.length !== length || !Number.isInteger(at))
      throw new Error(`A write of ${length} bytes is not understood`);
    return { kind: 'write', file, at, bytes, isSynced: this.#synced.has(fd) };
  }
}

/** With -xx file names are bytes as well. */
function pathIn(text: string): string {
  return unhex(`"${text}"`).toString();
}

/** All quoted strings, joined. */
function unhex(text: string): Buffer {
  if (text.includes('"...')) throw new Error('strace has cut a string off');
  const strings = [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => hex.replaceAll('\\x', ''));
  return Buffer.from(strings.join(''), 'hex');
}

export interface Image {
  /** By name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The newest transaction that had been acknowledged. */
  readonly acknowledged: number;
}

/** The files as they are found when the power went after so many events. */
export function imageAfter(events: readonly DiskEvent[], count: number, random: SeededRandom): Image {
  const past = events.slice(0, count);
  const created = past.flatMap((event) => (event.kind === 'create' ? [event.file] : []));
  const files = new Map(created.map((file) => [file, imageOf(past, file, random)]));
  const done = past.flatMap((event) => (event.kind === 'done' ? [event.number] : []));
  return { files, acknowledged: done.at(-1) ?? 0 };
}

function imageOf(past: readonly DiskEvent[], file: string, random: SeededRandom): Buffer {
  const lastSync = past.findLastIndex((event) => event.kind === 'sync' && event.file === file);
  const writes = past.flatMap((event, index) =>
    event.kind === 'write' && event.file === file ? [{ ...event, index }] : [],
  );
  const bytes = Buffer.alloc(Math.max(0, ...writes.map(({ at, bytes: { length } }) => at + length)));
  for (const { at, bytes: written, index, isSynced } of writes) {
    if (isSynced || index < lastSync) written.copy(bytes, at);
    else copySome(written, bytes, at, random);
  }
  return bytes;
}

function copySome(from: Buffer, to: Buffer, at: number, random: SeededRandom): void {
  const share = random.pick([0, 50, 100]);
  for (let sector = 0; sector < from.length; sector += SECTOR) {
    if (random.chance(share)) from.copy(to, at + sector, sector, sector + SECTOR);
  }
}
