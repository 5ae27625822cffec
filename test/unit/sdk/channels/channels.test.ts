import { describe, expect, test } from 'vitest';
import { ChannelReader } from '../../../../src/sdk/channels/channel-reader.ts';
import { replaceRefs } from '../../../../src/sdk/channels/channel-ref.ts';
import { ChannelWriter } from '../../../../src/sdk/channels/channel-writer.ts';
import { Fifo } from '../../../../src/sdk/channels/fifo.ts';
import { nodeMemory, watchMemory } from '../../../../src/sdk/node/memory-node.ts';
import { forEachSeed, RUNS_ALL_SEEDS, type SeededRandom } from '../../../support/random/seeded-random.ts';
import { ChannelPlatform, newRef } from './channel-platform.ts';

describe('references in received values', () => {
  test('[CH6] Each becomes an end, at any depth, and a repeated one becomes one end', () => {
    const platform = new ChannelPlatform();
    const revived = platform.revive({ a: [newRef('read'), { b: newRef('write') }], again: newRef('read'), c: 1 });
    expect(revived).toEqual({
      a: [expect.any(ChannelReader), { b: expect.any(ChannelWriter) }],
      again: expect.any(ChannelReader),
      c: 1,
    });
    const { a, again } = revived as { a: [ChannelReader]; again: ChannelReader };
    expect(a[0]).toBe(again);
  });

  test('[CH6] [X19] Everything else in a value is unchanged, `__proto__` too', () => {
    let replaced = 0;
    forEachSeed(200, (random) => {
      const text = JSON.stringify(randomValue(random, 4)).replaceAll('"proto"', '"__proto__"');
      const expected = text.replaceAll(JSON.stringify(newRef('read')), '"live"');
      const value: unknown = replaceRefs(JSON.parse(text), () => ({ toJSON: () => 'live' }));
      expect(JSON.stringify(value)).toBe(expected);
      if (expected !== text) replaced++;
    });
    // A value holds a reference with probability 0.2985: of 200, ten or fewer do once in 10^18 runs.
    if (RUNS_ALL_SEEDS) expect(replaced).toBeGreaterThan(10);
  });

  test('[CH6] [fault 33] A very deep value does not end the process', () => {
    const depth = 200_000;
    const text = `${'{"channel_id":1,"a":['.repeat(depth)}1${']}'.repeat(depth)}`;
    expect(() => replaceRefs(JSON.parse(text), () => ({}))).not.toThrow();
  });

  test('[CH6] A value is searched only if its text holds a reference', () => {
    const platform = new ChannelPlatform();
    const untouchable = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('It was searched');
        },
      },
    );
    const memory = watchMemory(nodeMemory, platform.channels.noteReference);
    const read = (text: string) => memory.read(Buffer.from(text), 0, Buffer.byteLength(text));
    expect(read('{"é":1}')).toBe('{"é":1}');
    expect(platform.channels.revive(untouchable)).toBe(untouchable);
    read('{"channel_id":1}');
    expect(() => platform.channels.revive(untouchable)).toThrow('It was searched');
    expect(platform.channels.revive(untouchable)).toBe(untouchable);
  });
});

describe('the end of a worker', () => {
  test('[SDK-8] Open ends fail, and closed ends have a second to send the rest', async () => {
    const platform = new ChannelPlatform();
    const [reader, writer, closing] = [platform.newReader(), platform.newWriter(), platform.newWriter()];
    const failing = [reader.readAll(), writer.write('x')].map((promise) =>
      expect(promise).rejects.toMatchObject({ code: 'SHUTDOWN' }),
    );
    const closed = closing.close();
    let isOver = false;
    void platform.channels.end().then(() => {
      isOver = true;
    });
    await Promise.all(failing);
    await platform.settle();
    expect(isOver).toBe(false);
    const [, , goodbye] = platform.ends;
    goodbye?.grant(1, 1);
    goodbye?.end(1000);
    await closed;
    await platform.settle();
    expect(isOver).toBe(true);
    expect(platform.clock.timerCount).toBe(0);
  });

  test('[SDK-8] A close frame without an answer does not delay the end', async () => {
    const platform = new ChannelPlatform();
    const failing = expect(platform.newWriter().close()).rejects.toMatchObject({ code: 'SHUTDOWN' });
    const ended = platform.channels.end();
    await platform.pass(1_000);
    await Promise.all([ended, failing]);
    expect(platform.end.ending).toBe('terminated');
    expect(platform.clock.timerCount).toBe(0);
  });
});

test('[CH1] A queue returns its items in order', () => {
  forEachSeed(50, (random) => {
    const queue = new Fifo<number>();
    const expected: number[] = [];
    for (let step = 0; step < 200; step++) {
      if (random.chance(55)) {
        queue.push(step);
        expected.push(step);
      } else {
        expect(queue.first).toBe(expected[0]);
        expect(queue.shift()).toBe(expected.shift());
      }
      expect(queue.isEmpty).toBe(expected.length === 0);
    }
    expect(queue.takeAll()).toEqual(expected);
    expect(queue.isEmpty).toBe(true);
  });
});

function randomValue(random: SeededRandom, depth: number): unknown {
  const kind = random.below(depth > 0 ? 7 : 4);
  if (kind === 0) return newRef('read');
  if (kind < 4) return random.pick([null, 'text', 7, true, { channel_id: 'c', access_key: 1, direction: 'read' }]);
  const count = random.below(4);
  if (kind === 4) return Array.from({ length: count }, () => randomValue(random, depth - 1));
  const keys = ['proto', 'a', 'channel_id', 'direction'].slice(0, count);
  return Object.fromEntries(keys.map((key) => [key, randomValue(random, depth - 1)]));
}
