// The keys of the outbox: `o`, then
//
//   P owner    the plan of whose changes become jobs
//   H          how many entries there are, and the number of the next
//   J seq      a job that waits; six bytes, the largest first, so that keys order as numbers do

import { type KeyRange, SPACE } from '../../kv/keys.ts';

const NUMBER_BYTES = 6;
const SEQ_AT = 2;

export const planKey = (owner: string): Buffer => Buffer.concat([kind('P'), Buffer.from(owner)]);
export const outboxHeadKey = (): Buffer => kind('H');
export const allOutboxJobs = (): KeyRange => ({ start: kind('J'), end: kind('K') });

export function outboxJobKey(seq: number): Buffer {
  const key = Buffer.alloc(SEQ_AT + NUMBER_BYTES);
  kind('J').copy(key);
  key.writeUIntBE(seq, SEQ_AT, NUMBER_BYTES);
  return key;
}

export function outboxSeq(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(SEQ_AT, NUMBER_BYTES);
}

function kind(letter: string): Buffer {
  return Buffer.of(SPACE.outbox, letter.charCodeAt(0));
}
