// What a store says of its journal, and how the changes that a crash left there reach the tree.

import { Buffer } from 'node:buffer';
import { systemRandom } from '../../effects/random.ts';
import { joinKey, SPACE } from '../kv/keys.ts';
import type { Kv, KvReader } from '../kv/kv.ts';
import type { LmdbStore } from '../kv/kv-lmdb.ts';
import { readJournal } from './journal.ts';
import { SALT_BYTES } from './journal-record.ts';

export interface JournalState {
  /** Of its records (`journal-record.ts`). */
  readonly salt: Buffer;
  /** The tree holds the changes of all records up to this number. */
  readonly number: number;
}

const JOURNAL_KEY = joinKey(SPACE.store, Buffer.from('journal'));
const NUMBER_BYTES = 6;

export function newJournal(): JournalState {
  return { salt: Buffer.from(systemRandom.token(), 'hex').subarray(0, SALT_BYTES), number: 0 };
}

/** `undefined`: the store never had a journal. */
export function readJournalState(tree: KvReader): JournalState | undefined {
  const value = tree.get(JOURNAL_KEY);
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value);
  return { salt: bytes.subarray(0, SALT_BYTES), number: bytes.readUIntLE(SALT_BYTES, NUMBER_BYTES) };
}

export function writeJournalState(tree: Kv, { salt, number }: JournalState): void {
  const value = Buffer.alloc(SALT_BYTES + NUMBER_BYTES);
  salt.copy(value);
  value.writeUIntLE(number, SALT_BYTES, NUMBER_BYTES);
  tree.put(JOURNAL_KEY, value);
}

/** In one transaction. Throws `DamagedFile`, and then has changed nothing. */
export function recoverJournal(tree: LmdbStore, folder: string, state: JournalState): JournalState {
  const records = readJournal(folder, state.salt, state.number);
  const last = records.at(-1);
  if (last === undefined) return state;
  const recovered = { salt: state.salt, number: last.number };
  tree.write((kv) => {
    for (const { changes } of records) {
      for (const [key, record] of changes) {
        if (record === null) kv.remove(key);
        else kv.putRecord(key, record);
      }
    }
    writeJournalState(kv, recovered);
  });
  return recovered;
}
