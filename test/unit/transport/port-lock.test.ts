import { expect, test } from 'vitest';
import { whilePortIsLocked } from '../../../src/transport/port-lock.ts';

const HOST = '127.0.0.1';
/** Only a name here: nothing listens on it. */
const PORT = 64_999;

test('[RO2] engines open one port one after the other, and two ports at the same time', async () => {
  const steps: string[] = [];
  let endFirst = (): void => {};
  const held = new Promise<void>((resolve) => {
    endFirst = resolve;
  });
  const first = whilePortIsLocked(HOST, PORT, async () => {
    steps.push('first begins');
    await whilePortIsLocked(HOST, PORT + 1, () => steps.push('another port'));
    await held;
    steps.push('first ends');
  });
  const second = whilePortIsLocked(HOST, PORT, () => steps.push('second'));
  await expect.poll(() => steps).toEqual(['first begins', 'another port']);
  endFirst();
  await Promise.all([first, second]);
  expect(steps).toEqual(['first begins', 'another port', 'first ends', 'second']);
});

test('[RO2] a port that cannot be opened is free for the next engine', async () => {
  const failing = whilePortIsLocked(HOST, PORT, () => Promise.reject(new Error('in use')));
  await expect(failing).rejects.toThrow('in use');
  expect(await whilePortIsLocked(HOST, PORT, () => 'open')).toBe('open');
});
