// Many calls at once from one process, with the default limits. The engine has a process of its own: with ten
// thousand callers in it, its loop would be late enough to refuse calls.

import { describe, expect, test } from 'vitest';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connectTo = sdkWorkers();
const CALLS = 10_000;
const numbers = Array.from({ length: CALLS }, (_, at) => at);
const LIMITED = `
limits:
  trusted: { in_flight_per_worker: 4, in_flight_per_caller: 16 }
workers: []
`;

describe.each(['binary', 'json'] as const)('over the %s form', (wire) => {
  test('[W6] [L6] ten thousand calls to one worker are all answered', async () => {
    await using engine = await EngineProcess.start(ONE_PORT);
    const provider = connectTo(engine.url, { wire });
    const double = provider.registerFunction('own::double', async (x: number) => x * 2);
    await double.ready();
    const caller = connectTo(engine.url, { wire });
    const answers = await Promise.all(numbers.map((payload) => caller.trigger({ function_id: double, payload })));
    expect(answers).toEqual(numbers.map((number) => number * 2));
  });

  test('[W6] ten thousand calls to eight workers are all answered', async () => {
    await using engine = await EngineProcess.start(ONE_PORT);
    const ready = Array.from({ length: 8 }, () =>
      connectTo(engine.url, { wire })
        .registerFunction('own::double', async (x: number) => x * 2)
        .ready(),
    );
    await Promise.all(ready);
    const caller = connectTo(engine.url, { wire });
    const calls = numbers.map((payload) => caller.trigger({ function_id: 'own::double', payload }));
    expect(await Promise.all(calls)).toEqual(numbers.map((number) => number * 2));
  });

  test('[W6] [L6] ten thousand calls of a handler are all answered', async () => {
    await using engine = await EngineProcess.start(ONE_PORT);
    const provider = connectTo(engine.url, { wire });
    const double = provider.registerFunction('own::double', async (x: number) => x * 2);
    const sum = provider.registerFunction('own::sum', async () => {
      const answers = await Promise.all(numbers.map((payload) => provider.trigger({ function_id: double, payload })));
      return answers.reduce((total: number, answer: number) => total + answer, 0);
    });
    await Promise.all([double.ready(), sum.ready()]);
    const caller = connectTo(engine.url, { wire });
    expect(await caller.trigger({ function_id: sum })).toBe(CALLS * (CALLS - 1));
  });

  test('[W6] [L6] two thousand handlers that call a function of their own worker are all answered', async () => {
    await using engine = await EngineProcess.start(ONE_PORT);
    const provider = connectTo(engine.url, { wire });
    const inner = provider.registerFunction('own::inner', async (x: number) => x * 2);
    const outer = provider.registerFunction('own::outer', (payload: number) =>
      provider.trigger({ function_id: inner, payload }),
    );
    await Promise.all([inner.ready(), outer.ready()]);
    const caller = connectTo(engine.url, { wire });
    const calls = numbers.slice(0, 2_000).map((payload) => caller.trigger({ function_id: outer, payload }));
    expect(await Promise.all(calls)).toEqual(numbers.slice(0, 2_000).map((number) => number * 2));
  });

  test('[W6] [L6] low limits delay calls and fail none, from outside and from handlers', async () => {
    await using engine = await startTestEngine({ yaml: LIMITED });
    const provider = connectTo(engine.url, { wire });
    let running = 0;
    let most = 0;
    const inner = provider.registerFunction('own::inner', async (x: number) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return x;
    });
    const outer = provider.registerFunction('own::outer', async (payload: number) => {
      const [one = 0, two = 0] = await Promise.all([
        provider.trigger({ function_id: inner, payload }),
        provider.trigger({ function_id: inner, payload }),
      ]);
      return one + two;
    });
    await Promise.all([inner.ready(), outer.ready()]);
    const caller = connectTo(engine.url, { wire });
    const calls = numbers.slice(0, 100).map((payload) => caller.trigger({ function_id: outer, payload }));
    expect(await Promise.all(calls)).toEqual(numbers.slice(0, 100).map((number) => number * 2));
    expect(most).toBeLessThanOrEqual(4);
  });

  test('[SDK-7] [W6] ten thousand calls of 8 KiB are held while the engine has not read them, and all are answered', async () => {
    await using engine = await EngineProcess.start(ONE_PORT);
    const provider = connectTo(engine.url, { wire });
    const length = provider.registerFunction('own::length', async (text: string) => text.length);
    await length.ready();
    const caller = connectTo(engine.url, { wire, unsent_bytes_max: 256 * 1024 * 1024 });
    const payload = 'x'.repeat(8_192);
    // On a busy machine the engine sheds some of them.
    const retry = { attempts: 10, backoff_ms: 100 };
    const calls = numbers.map(() => caller.trigger({ function_id: length, payload, retry }));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([8_192]));
  });
});
