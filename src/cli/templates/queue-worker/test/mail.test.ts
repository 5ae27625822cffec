import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { registerWorker } from 'svc-sdk';
import { startEngine } from 'svc-sdk/testing';
import { register } from '../workers/mail/functions.ts';

// A real engine of this test's own, in memory and on free ports.
const engine = await startEngine({ queues: { mail: { max_retries: 3, backoff_ms: 10 } } });
const svc = registerWorker(engine.url, { handle_signals: false });

/** A mail server that fails the first time. */
const sent: string[] = [];
const receipts = new Set<string>();
register(svc, async (to, _text, receipt) => {
  const isFirst = !receipts.has(receipt);
  receipts.add(receipt);
  if (isFirst) throw new Error('The mail server does not answer');
  sent.push(to);
});
await svc.ready();
after(async () => {
  await svc.shutdown();
  await engine.stop();
});

async function endOf(path: string): Promise<{ state: string; attempt: number }> {
  for (;;) {
    const job = (await (await fetch(`${engine.http_url}${path}`)).json()) as { state: string; attempt: number };
    if (job.state === 'done' || job.state === 'dead') return job;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const signUp = async (to: string): Promise<string> => {
  const response = await fetch(`${engine.http_url}/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to }),
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { job: string }).job;
};

test('retries a mail that could not be sent', async () => {
  assert.equal((await endOf(await signUp('ann@example.org'))).state, 'done');
  assert.deepEqual(sent, ['ann@example.org']);
  assert.equal(receipts.size, 1);
});

test('a job that cannot succeed becomes a dead letter', async () => {
  assert.equal((await endOf(await signUp('unknown'))).state, 'dead');
  const [letter] = await svc.queue('mail').dlq.list();
  assert.match(letter?.error ?? '', /'unknown' is not an address/);
});
