// A store whose transactions are durable in a journal, and reach the tree of lmdb later, many at once.
//
// A commit of lmdb writes every page from a leaf to the root, and syncs twice. A record of the journal holds only the
// changes, and needs one sync. A key that is written again before its changes reach the tree is written there once, and
// a job that ends before that never is.
//
// Invariants:
//   - A transaction is in the journal, durably, before `write` returns (D1).
//   - The tree says up to which record it holds all changes (`recovery.ts`), in the transaction that completes them.
//   - After the first write or sync that fails nothing is written any more (D3).
//
// Neighbours: `kv-lmdb.ts` is the tree, `journal.ts` the files; `open-store.ts` opens both.

import { Buffer } from 'node:buffer';
import { bufferOf } from '../kv/kept-bytes.ts';
import { type Kv, type KvReader, type KvStore, StoreFull } from '../kv/kv.ts';
import type { DiskKv, DiskReader, LmdbStore } from '../kv/kv-lmdb.ts';
import { type Changed, ChangeSet } from './change-set.ts';
import { Gaps } from './gaps.ts';
import { GROWTH_BYTES, Journal } from './journal.ts';
import { Overlay } from './overlay.ts';
import { type JournalState, writeJournalState } from './recovery.ts';

export interface JournalLimits {
  /** Of each of the two files. */
  readonly fileBytes: number;
  /** Larger transactions go to the tree directly: their values would be written twice. */
  readonly transactionBytes: number;
  /** Keys in memory that are not in the tree yet, twice: a file of short records would have many more. */
  readonly keys: number;
  /** Keys that were removed and are still in the tree: a read in order passes each of them, and what it hides. */
  readonly removals: number;
  /** Of one transaction that brings changes into the tree while commands wait. */
  readonly drainedKeys: number;
}

const LIMITS: JournalLimits = {
  fileBytes: 16 * 1024 * 1024,
  transactionBytes: 1024 * 1024,
  keys: 32 * 1024,
  removals: 512,
  drainedKeys: 1024,
};
const FAILED = 'An earlier transaction of the store failed';
const DRAINED_BYTES_MAX = 1024 * 1024;

/** Changes that the tree takes over, in the order of their keys. */
interface Draining {
  readonly changes: ChangeSet;
  readonly keys: readonly string[];
  /** The number of their last record. */
  readonly number: number;
  next: number;
}

export class JournaledStore implements KvStore {
  readonly #tree: LmdbStore;
  readonly #journal: Journal;
  readonly #salt: Buffer;
  readonly #limits: JournalLimits;
  #recent = new ChangeSet();
  #draining: Draining | undefined;
  readonly #gaps = new Gaps();
  /** Of the last transaction. */
  #number: number;
  #hasFailed = false;
  /** The value of `#number` when the store was last asked to settle. */
  #settledAt: number;

  constructor(tree: LmdbStore, folder: string, { salt, number }: JournalState, limits: Partial<JournalLimits> = {}) {
    this.#tree = tree;
    this.#limits = { ...LIMITS, ...limits };
    this.#salt = salt;
    this.#number = number;
    this.#settledAt = number;
    this.#journal = new Journal(folder, salt);
  }

  read<T>(work: (kv: KvReader) => T): T {
    return this.#tree.read((tree) => work(new Overlay(tree, this.#layers(), new ChangeSet(), this.#gaps)));
  }

  write<T>(work: (kv: Kv) => T): T {
    if (this.#hasFailed) throw new Error(FAILED);
    const changes = new ChangeSet();
    try {
      const result = this.#tree.read((tree) => work(new Overlay(tree, this.#layers(), changes, this.#gaps)));
      if (changes.size > 0) this.#commit(changes);
      return result;
    } catch (error) {
      this.#gaps.clear();
      throw error;
    }
  }

  clearStaleReaders(): number {
    return this.#tree.clearStaleReaders();
  }

  /** Brings all changes into the tree if none came since the last time: an idle store holds nothing in memory. */
  settle(): void {
    if (this.#settledAt === this.#number) this.#drainAll();
    this.#settledAt = this.#number;
  }

  /** One committed moment, into an existing folder (D8). */
  async copyTo(folder: string): Promise<void> {
    this.#drainAll();
    await this.#tree.copyTo(folder);
  }

  /** What the tree will take at most: room that must not be given to others (D4). */
  get pending(): { readonly bytes: number; readonly changes: number } {
    const bytes = this.#recent.bytes + (this.#draining?.changes.bytes ?? 0);
    const keys = this.#recent.size + (this.#draining?.keys.length ?? 0);
    return { bytes: bytes + GROWTH_BYTES, changes: Math.min(keys, this.#limits.drainedKeys) };
  }

  close(): void {
    try {
      if (!this.#hasFailed) this.#drainAll();
    } finally {
      this.#tree.close();
      this.#journal.close(!this.#hasFailed);
    }
  }

  #layers(): ChangeSet[] {
    return this.#draining === undefined ? [this.#recent] : [this.#recent, this.#draining.changes];
  }

  #unlessFailed(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  #commit(changes: ChangeSet): void {
    if (changes.bytes > this.#limits.transactionBytes) this.#writeThrough(changes);
    else this.#unlessFailed(() => this.#append(changes));
  }

  #append(changes: ChangeSet): void {
    this.#journal.append(this.#number + 1, changes.entries());
    this.#number++;
    this.#tree.read((tree) => {
      for (const [key, record] of changes.entries()) this.#keep(tree, key, record);
    });
    if (this.#fill() >= 1) this.#turn();
    else this.#drainSome();
  }

  /** The tree never needs to hear of a key that it does not have. */
  #keep(tree: DiskReader, key: string, record: Changed): void {
    if (record === null && !this.#isOlder(tree, key)) this.#recent.delete(key);
    else this.#recent.set(key, record);
  }

  /** Whether the key exists apart from recent changes. */
  #isOlder(tree: DiskReader, key: string): boolean {
    const changed = this.#draining?.changes.get(key);
    return changed === undefined ? tree.has(Buffer.from(key, 'latin1')) : changed !== null;
  }

  #fill(): number {
    const { fileBytes, keys, removals } = this.#limits;
    return Math.max(this.#journal.bytes / fileBytes, this.#recent.size / keys, this.#recent.removals / removals);
  }

  #turn(): void {
    this.#drainRest();
    const keys = this.#recent.sortedKeys();
    this.#draining = { changes: this.#recent, keys, number: this.#number, next: 0 };
    this.#recent = new ChangeSet();
    this.#journal.turn();
  }

  /** Ahead of new changes by a factor of two, so that none has to wait for the rest. */
  #drainSome(): void {
    const draining = this.#draining;
    if (draining === undefined || draining.next > draining.keys.length * this.#fill() * 2) return;
    const end = endOfPart(draining, this.#limits.drainedKeys);
    const isLast = end >= draining.keys.length;
    this.#tree.write((tree) => {
      for (let at = draining.next; at < end; at++) putChange(tree, draining.keys[at], draining.changes);
      if (isLast) this.#mark(tree, draining.number);
    });
    draining.next = end;
    if (isLast) this.#draining = undefined;
  }

  #drainRest(): void {
    const draining = this.#draining;
    if (draining === undefined) return;
    this.#tree.write((tree) => {
      this.#putRest(tree, draining);
      this.#mark(tree, draining.number);
    });
    this.#draining = undefined;
  }

  #drainAll(): void {
    if (this.#hasFailed) throw new Error(FAILED);
    if (this.#draining === undefined && this.#recent.size === 0) return;
    this.#writeThrough(new ChangeSet());
  }

  /** All changes there are, and these, in one transaction of the tree. One that finds it full can be repeated (D6). */
  #writeThrough(changes: ChangeSet): void {
    try {
      this.#tree.write((tree) => {
        if (this.#draining !== undefined) this.#putRest(tree, this.#draining);
        for (const set of [this.#recent, changes]) for (const key of set.sortedKeys()) putChange(tree, key, set);
        this.#mark(tree, this.#number);
      });
    } catch (error) {
      this.#hasFailed = !(error instanceof StoreFull);
      throw error;
    }
    this.#draining = undefined;
    this.#recent = new ChangeSet();
  }

  #putRest(tree: DiskKv, { keys, changes, next }: Draining): void {
    for (let at = next; at < keys.length; at++) putChange(tree, keys[at], changes);
  }

  #mark(tree: DiskKv, number: number): void {
    writeJournalState(tree, { salt: this.#salt, number });
  }
}

/** Of `undefined` there is nothing to put: the key was deleted from the set. */
function putChange(tree: DiskKv, key: string | undefined, changes: ChangeSet): void {
  const record = key === undefined ? undefined : changes.get(key);
  if (key === undefined || record === undefined) return;
  const bytes = Buffer.from(key, 'latin1');
  if (record === null) tree.remove(bytes);
  else tree.putRecord(bytes, bufferOf(record));
}

function endOfPart({ keys, changes, next }: Draining, count: number): number {
  let end = next;
  for (let bytes = 0; end < keys.length && end - next < count && bytes < DRAINED_BYTES_MAX; end++) {
    bytes += changes.get(keys[end] ?? '')?.length ?? 0;
  }
  return end;
}
