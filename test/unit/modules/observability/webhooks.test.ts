import { expect, test } from 'vitest';
import { Webhooks } from '../../../../src/modules/observability/webhooks.ts';

const MESSAGE = { alert: 'a', metric: 'm', value: 2, threshold: 1, operator: '>', timestamp: 0 };
const URL_OF_HOOK = 'https://hooks.example/alert';

type Send = ConstructorParameters<typeof Webhooks>[0]['send'];

test('[X16] eight webhooks are under way at a time, a thousand wait, more are refused', async () => {
  const under: (() => void)[] = [];
  const send: Send = () => new Promise((resolve) => under.push(() => resolve({ status: 200, body: Buffer.alloc(0) })));
  const webhooks = new Webhooks({ send });
  const sent = Array.from({ length: 1_008 }, () => webhooks.send(URL_OF_HOOK, MESSAGE));
  await expect(webhooks.send(URL_OF_HOOK, MESSAGE)).rejects.toThrow('1000 webhooks wait already');
  expect(under).toHaveLength(8);
  under[3]?.();
  await sent[3];
  await Promise.resolve();
  expect(under).toHaveLength(9);
  for (let next = 0; next < 1_008; next++) {
    under[next]?.();
    await sent[next];
  }
  await Promise.all(sent);
});

test('[X16] a webhook has 5 s, and its answer is read up to 64 KiB; only a 2xx counts', async () => {
  const asked: Parameters<Send>[0][] = [];
  let status = 204;
  const webhooks = new Webhooks({
    async send(request) {
      asked.push(request);
      return { status, body: Buffer.alloc(0) };
    },
  });
  await webhooks.send(URL_OF_HOOK, MESSAGE);
  expect(asked).toMatchObject([{ method: 'POST', timeoutMs: 5_000, answerBytesMax: 65_536 }]);
  for (status of [199, 302, 404, 500]) {
    await expect(webhooks.send(URL_OF_HOOK, MESSAGE)).rejects.toThrow(`status ${status}`);
  }
});
