// The caller part for state: sets, gets, updates with ten operations, or updates of one value of 4 MiB, on the given
// number of connections, one by default.

import { registerWorker } from 'svc-sdk';
import { answerReady, answerRuns } from './part.ts';

const [, , url, kind, connections = '1'] = process.argv;
const KEYS = 10_000;
const LARGE_BYTES = 4 * 1024 * 1024 - 200;
const svc = registerWorker(url, { worker_name: 'caller' });
const more = Array.from({ length: Number(connections) - 1 }, () => registerWorker(url, { worker_name: 'caller' }));
const callers = [svc, ...more];
const value = 'x'.repeat(198);
const ops = Array.from({ length: 10 }, (_, index) => ({ type: 'increment', path: `field-${index}`, by: 1 }));
let call = 0;

const requests: Readonly<Record<string, () => { function_id: string; payload: unknown }>> = {
  set: () => ({ function_id: 'state::set', payload: { scope: 'bench', key: nextKey(), value } }),
  get: () => ({ function_id: 'state::get', payload: { scope: 'bench', key: nextKey() } }),
  update: () => ({ function_id: 'state::update', payload: { scope: 'counters', key: nextKey(), ops } }),
  large: () => ({
    function_id: 'state::update',
    payload: { scope: 'large', key: 'one', ops: [{ type: 'increment', path: 'count', by: 1 }] },
  }),
};

answerReady(async () => {
  await Promise.all(callers.map((caller) => caller.ready()));
  if (kind === 'large') {
    const text = 'x'.repeat(LARGE_BYTES);
    await svc.trigger({
      function_id: 'state::set',
      payload: { scope: 'large', key: 'one', value: { count: 0, text } },
    });
  }
  if (kind === 'set' || kind === 'update') await writeEveryKey(requests[kind]);
  return {};
});
answerRuns((_payload, done) => {
  const request = requests[kind ?? ''];
  if (request === undefined) throw new Error(`There is no kind of call '${kind}'`);
  const caller = callers[call % callers.length] ?? svc;
  caller.trigger(request()).then(done, (error: unknown) => {
    throw error;
  });
});

/** A write that extends the file also costs a commit of the file system. Those writes happen before the measurement. */
async function writeEveryKey(request: (typeof requests)[string] | undefined): Promise<void> {
  if (request === undefined) throw new Error(`There is no kind of call '${kind}'`);
  for (let written = 0; written < KEYS; written += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, () => svc.trigger(request())));
  }
}

function nextKey(): string {
  call = (call + 1) % KEYS;
  return `key-${call}`;
}
