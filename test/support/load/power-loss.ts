// The content of a disk after a power cut, computed from the system calls of a program: synced data is there, and data
// that was only written is there or not, sector by sector, at random.

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

export type DiskEvent =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Buffer; readonly isSynced: boolean }
  | { readonly kind: 'sync' }
  | { readonly kind: 'done'; readonly number: number };

/** Reads what `strace -f -y -xx` wrote of that file, and of what the program said. In the order in which calls ended. */
export function readTrace(text: string, file: string): DiskEvent[] {
  const unfinished = new Map<string, string>();
  const reader = new CallReader(file);
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
  readonly #file: string;
  /** Descriptors whose every write is on the disk when it returns. */
  readonly #synced = new Set<string>();
  /** Where the next plain write of a descriptor goes. */
  readonly #places = new Map<string, number>();

  constructor(file: string) {
    this.#file = file;
  }

  read(call: string): DiskEvent[] {
    if (call.startsWith('openat(')) return this.#open(call);
    const [, name = '', fd = '', path = '', rest = ''] = /^(\w+)\((\d+)<([^>]*)>(.*)$/s.exec(call) ?? [];
    if (name === 'write' && fd === '1') {
      const number = /^done (\d+)/.exec(unhex(rest).toString())?.[1];
      return number === undefined ? [] : [{ kind: 'done', number: Number(number) }];
    }
    if (pathIn(path) !== this.#file) return [];
    const result = Number(/\)\s+= (\d+)$/.exec(call)?.[1]);
    switch (name) {
      case 'fdatasync':
      case 'fsync':
        return [{ kind: 'sync' }];
      case 'lseek':
        this.#places.set(fd, result);
        return [];
      case 'write':
      case 'writev': {
        const at = this.#places.get(fd) ?? 0;
        this.#places.set(fd, at + result);
        return [this.#written(fd, at, rest, result)];
      }
      case 'pwrite64':
      case 'pwritev':
        // The place is the last argument.
        return [this.#written(fd, Number(/, (\d+)\)\s+= \d+$/.exec(call)?.[1]), rest, result)];
      default:
        throw new Error(`A call that is not understood: ${call.slice(0, 200)}`);
    }
  }

  #open(call: string): DiskEvent[] {
    const [, fd = '', path = ''] = /= (\d+)<([^>]*)>$/.exec(call) ?? [];
    this.#places.delete(fd);
    if (pathIn(path) === this.#file && /O_D?SYNC/.test(call)) this.#synced.add(fd);
    else this.#synced.delete(fd);
    return [];
  }

  #written(fd: string, at: number, strings: string, length: number): DiskEvent {
    const bytes = unhex(strings);
    if (bytes.length !== length || !Number.isInteger(at))
      throw new Error(`A write of ${length} bytes is not understood`);
    return { kind: 'write', at, bytes, isSynced: this.#synced.has(fd) };
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
  readonly bytes: Buffer;
  /** The newest transaction that had been acknowledged. */
  readonly acknowledged: number;
}

/** The file as it is found when the power went after so many events. */
export function imageAfter(events: readonly DiskEvent[], count: number, random: SeededRandom): Image {
  const past = events.slice(0, count);
  const lastSync = past.findLastIndex(({ kind }) => kind === 'sync');
  const writes = past.flatMap((event, index) => (event.kind === 'write' ? [{ ...event, index }] : []));
  const bytes = Buffer.alloc(Math.max(0, ...writes.map(({ at, bytes: { length } }) => at + length)));
  for (const { at, bytes: written, index, isSynced } of writes) {
    if (isSynced || index < lastSync) written.copy(bytes, at);
    else copySome(written, bytes, at, random);
  }
  const done = past.flatMap((event) => (event.kind === 'done' ? [event.number] : []));
  return { bytes, acknowledged: done.at(-1) ?? 0 };
}

function copySome(from: Buffer, to: Buffer, at: number, random: SeededRandom): void {
  const share = random.pick([0, 50, 100]);
  for (let sector = 0; sector < from.length; sector += SECTOR) {
    if (random.chance(share)) from.copy(to, at + sector, sector, sector + SECTOR);
  }
}
