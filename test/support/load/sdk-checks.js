// What a user of svc-sdk does first, as plain JavaScript: it runs on every supported version of Node, without a test
// runner. Prints one line for each check that holds, and ends with 1 at the first that does not.
//
// node sdk-checks.js <url> <binary | json>

import assert from 'node:assert/strict';
import { Enqueue, registerWorker, Void } from 'svc-sdk';

const [url, wire] = process.argv.slice(2);
const options = { wire, handle_signals: false, log: () => {} };
const provider = registerWorker(url, options);
const caller = registerWorker(url, options);
const name = (id) => `${wire}-${process.versions.node.split('.')[0]}::${id}`;

async function check(what, run) {
  await run();
  process.stdout.write(`${what}\n`);
}

const echo = provider.registerFunction(name('echo'), async (value) => value);
const fail = provider.registerFunction(name('fail'), async () => {
  throw new RangeError('out of stock');
});
let voidCalls = 0;
const count = provider.registerFunction(name('count'), async () => ++voidCalls);
const read = provider.registerFunction(name('read'), async ({ reader }) => {
  let text = '';
  for await (const chunk of reader) text += chunk;
  return text.length;
});
await Promise.all([echo, fail, count, read].map((registered) => registered.ready()));

await check('values survive a call', async () => {
  const values = [null, 0, -1.5, 'é€😀', [], { a: { b: [1, { c: null }] } }, 'x'.repeat(300_000)];
  for (const value of values) assert.deepEqual(await caller.trigger({ function_id: echo, payload: value }), value);
});
await check('an error keeps its code, message and stack', async () => {
  const error = await caller.trigger({ function_id: fail }).catch((caught) => caught);
  assert.equal(error.code, 'invocation_failed');
  assert.equal(error.message, 'out of stock');
  assert.match(error.remote.stack, /RangeError/);
});
await check('a call without a function names it', async () => {
  const error = await caller.trigger({ function_id: 'none::here' }).catch((caught) => caught);
  assert.equal(error.code, 'function_not_found');
});
await check('ten thousand calls at once are answered', async () => {
  const numbers = Array.from({ length: 10_000 }, (_, at) => at);
  const answers = await Promise.all(numbers.map((payload) => caller.trigger({ function_id: echo, payload })));
  assert.deepEqual(answers, numbers);
});
await check('Void and Enqueue run', async () => {
  await caller.trigger({ function_id: count, action: Void() });
  const receipt = await caller.trigger({ function_id: count, action: Enqueue({ queue: 'default' }) });
  assert.equal(typeof receipt.messageReceiptId, 'string');
  while (voidCalls < 2) await new Promise((resolve) => setImmediate(resolve));
});
await check('state is stored', async () => {
  const entry = { scope: name('state'), key: 'k' };
  await caller.trigger({ function_id: 'state::set', payload: { ...entry, value: { on: wire } } });
  assert.deepEqual(await caller.trigger({ function_id: 'state::get', payload: entry }), { on: wire });
});
await check('a channel carries chunks', async () => {
  const { writer, readerRef } = await caller.createChannel();
  const answer = caller.trigger({ function_id: read, payload: { reader: readerRef } });
  for (let at = 0; at < 10; at++) await writer.write('0123456789');
  await writer.close();
  assert.equal(await answer, 100);
});
await Promise.all([provider.shutdown(), caller.shutdown()]);
