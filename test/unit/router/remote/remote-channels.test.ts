import { describe, expect, test } from 'vitest';
import { CHANNEL_OF_SENDER, CHANNEL_STEP } from '../../../../src/protocol/cluster/channel-message.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import type { ChannelRef } from '../../../../src/router/channels/channels.ts';
import { ChannelEnd } from '../../../support/clients/channel-ends.ts';
import { type LinkedEngine, LinkedPair } from '../../../support/cluster/linked-engines.ts';

const KIB = 1024;

/** A client of that engine takes the end. */
function dial({ engine }: LinkedEngine, { channel_id: id, access_key: key, direction }: ChannelRef): ChannelEnd {
  const { channels } = engine.context;
  expect(channels.mayConnect(id, key)).toBe(true);
  return new ChannelEnd((socket) => channels.connect({ id, key, direction, socket, keepsToCredit: false }));
}

/** A channel of A with its writer on B and its reader on A, connected. */
function connected(pair: LinkedPair) {
  const { writer, reader } = pair.a.engine.context.channels.create(1_024);
  const [from, into] = [dial(pair.b, writer), dial(pair.a, reader)];
  pair.pass();
  return { from, into };
}

function counts({ a, b }: LinkedPair): number[] {
  return [a.engine.context.channels.count, b.engine.context.channels.count];
}

describe('a channel between two engines', () => {
  test('[CL26] delivers frames in order, and leaves nothing after both ends have gone', () => {
    using pair = new LinkedPair();
    const { from, into } = connected(pair);
    from.say('one');
    from.say(Buffer.from([2]));
    from.leave();
    pair.pass();
    expect(into.socket.frames).toEqual(['one', new Uint8Array([2])]);
    expect(into.socket.farewell).toMatchObject({ code: 1000 });
    expect(counts(pair)).toEqual([0, 0]);
  });

  test('[CL26] has 512 KiB and one frame in transit, of all its ends together', () => {
    using pair = new LinkedPair();
    const ends = [connected(pair), connected(pair), connected(pair)];
    const before = pair.b.link.frames.length;
    for (let count = 0; count < 40; count++) for (const { from } of ends) from.say(Buffer.alloc(32 * KIB));
    expect(pair.b.link.frames.length - before).toBeLessThan((512 + 2 * 33) * KIB);
    expect(pair.b.link.frames.length - before).toBeGreaterThan(512 * KIB);
  });

  test('[CL26] is cut for its reader, and refused to its writer, when the session of the engines ends', () => {
    using pair = new LinkedPair();
    const { from, into } = connected(pair);
    from.say('one');
    pair.pass();
    pair.a.lose();
    pair.b.lose();
    expect(into.socket.frames).toEqual(['one']);
    expect(into.socket.farewell).toMatchObject({ code: 4420 });
    expect(from.socket.farewell).toEqual({ code: 4420, reason: 'the engine that has the channel cannot be reached' });
    expect(counts(pair)).toEqual([0, 0]);
  });

  test('[CL26] counts where its ends are passed on, up to the limit of that engine', () => {
    using pair = new LinkedPair();
    const { channels } = pair.a.engine.context;
    for (let count = 0; count < 10_000; count++) pair.b.engine.context.channels.create(1);
    const end = dial(pair.b, channels.create(1).writer);
    expect(end.socket.farewell).toMatchObject({
      code: 1013,
      reason: expect.stringContaining('limits.engine.channels'),
    });
  });

  test.each([
    ['no JSON', CHANNEL_STEP.open, 'nonsense'],
    ['another value', CHANNEL_STEP.open, '{"id":1}'],
    ['an unknown step', 7, ''],
  ])('ends the session for an opening that is %s', (_what, step, text) => {
    using pair = new LinkedPair();
    pair.a.other.sendChannel(step | CHANNEL_OF_SENDER, 0, 1, Buffer.from(text));
    pair.pass();
    expect(pair.b.link.refused).toHaveLength(1);
  });

  test.each([
    ['a text', CHANNEL_STEP.text],
    ['bytes', CHANNEL_STEP.bytes],
    ['a close', CHANNEL_STEP.close],
  ])('drops %s for an end that has left', (_what, step) => {
    using pair = new LinkedPair();
    pair.a.other.sendChannel(step, 0, 5, rawJson('late'));
    pair.pass();
    expect(pair.b.link.refused).toEqual([]);
  });
});
