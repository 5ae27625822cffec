// The limits of channels for restricted connections.

import { describe, expect, test } from 'vitest';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import type { ChannelRef } from '../../../../src/router/channels/channels.ts';
import { ChannelEnd } from '../../../support/clients/channel-ends.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import type { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';
import { openRestricted, type RestrictedOptions } from '../../../support/engine/restricted-port.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const CREATE = 'engine::channels::create';

interface Made {
  readonly writer: ChannelRef;
  readonly reader: ChannelRef;
}

describe('the number of channels', () => {
  test('a connection may have channels up to its limit, and an ended one makes room', async () => {
    const { engine, page } = await open({ channels: { channelsMax: 2, bytesMax: MIB, perSecondMax: 100 } });
    const first = make(page);
    make(page);
    expect(ask(page)).toEqual({
      code: 'OVERLOADED',
      message: 'This connection is at its limit of 2 channels (limits.browser.channels)',
    });
    expect(engine.count('channels.refused', 'per_connection')).toBe(1);
    const [writer, reader] = [dial(engine, first.writer), dial(engine, first.reader)];
    writer.leave();
    expect(reader.socket.farewell).toMatchObject({ code: 1000 });
    make(page);
  });

  test('a connection may create channels up to its rate per second', async () => {
    const { engine, page } = await open({ channels: { channelsMax: 100, bytesMax: MIB, perSecondMax: 3 } });
    for (let made = 0; made < 3; made++) make(page);
    expect(ask(page)).toEqual({
      code: 'RATE_LIMITED',
      message: 'This connection creates more than 3 channels per second (limits.browser.channels_per_second)',
    });
    expect(engine.count('channels.refused', 'per_second')).toBe(1);
    engine.advance(1_000);
    for (let made = 0; made < 3; made++) make(page);
    expect(ask(page)).toMatchObject({ code: 'RATE_LIMITED' });
  });

  test('restricted connections together have half of all channels, and trusted callers the rest', async () => {
    const { engine, page, backend, browser } = await open({ memory: { channels: { channelsMax: 5 } } });
    const other = await browser();
    const [first] = [make(page), make(other)];
    for (const one of [page, other]) {
      expect(ask(one)).toMatchObject({
        code: 'OVERLOADED',
        message: expect.stringContaining('2 channels together, half of limits.engine.channels'),
      });
    }
    expect(engine.count('channels.refused', 'reserved')).toBe(2);
    for (let made = 0; made < 3; made++) make(backend);
    expect(ask(backend)).toMatchObject({ message: expect.stringContaining('limits.engine.channels') });
    // An ended channel of a restricted connection makes room for another.
    dial(engine, first.writer).leave();
    dial(engine, first.reader).leave();
    make(other);
  });

  test('a call with the rights of a closed connection creates no channel', async () => {
    const { engine, page } = await open();
    const { channels } = engine.context;
    const access = [...engine.context.sessions.values()].find((session) => session.access !== undefined)?.access;
    if (access === undefined) throw new Error('The page is not restricted');
    channels.create(undefined, access);
    page.drop();
    const text = 'Only an open connection creates channels: jobs and triggers of restricted ports do not';
    expect(() => channels.create(undefined, access)).toThrow(text);
    // A job has rights without a share.
    expect(() => channels.create(undefined, { channelShare: undefined })).toThrow(text);
    expect(engine.count('channels.refused', 'no_connection')).toBe(2);
    expect(channels.count).toBe(0);
  });

  test('a channel that a trigger of the connection creates counts for the connection', async () => {
    const { engine, page } = await open({ channels: { channelsMax: 2, bytesMax: MIB, perSecondMax: 100 } });
    const type = addTriggerType(engine, 't');
    page.send({ type: 'registertrigger', id: 'x', trigger_type: 't', function_id: CREATE, config: {} });
    for (let fired = 0; fired < 5; fired++) {
      engine.port.fire(type.bindings, Payload.ofText(rawJson({})), { depth: 0 });
    }
    expect(engine.context.channels.count).toBe(2);
    page.drop();
    expect(engine.context.channels.count).toBe(0);
  });
});

describe('the end of the connection', () => {
  test('channels with an unconnected end are removed', async () => {
    const { engine, page } = await open();
    const [none, written, read] = [make(page), make(page), make(page)];
    const [writer, reader] = [dial(engine, written.writer), dial(engine, read.reader)];
    writer.say('kept for a reader');
    page.drop();
    for (const { socket } of [writer, reader]) {
      expect(socket.farewell).toEqual({ code: 4420, reason: 'the connection that made the channel ended' });
    }
    for (const { writer: ref } of [none, written, read]) expect(knows(engine, ref)).toBe(false);
    expect(engine.count('channels.trouble', 'maker_left')).toBe(3);
    expect(engine.context.channels.count).toBe(0);
  });

  test('channels with both ends connected stay', async () => {
    const { engine, page } = await open();
    const made = make(page);
    const [writer, reader] = [dial(engine, made.writer), dial(engine, made.reader)];
    page.drop();
    writer.say('still here');
    writer.leave();
    expect(reader.socket.frames).toEqual(['still here']);
    expect(reader.socket.farewell).toMatchObject({ code: 1000 });
  });

  test('channels of trusted callers stay', async () => {
    const { engine, backend } = await open();
    const made = make(backend);
    backend.drop();
    expect(knows(engine, made.writer)).toBe(true);
  });

  test('the bytes of its channels become free', async () => {
    const memory = { channels: { buffersBytesMax: 4 * MIB, spillBytesMax: 0 } };
    const { engine, page, browser } = await open({ memory });
    const fill = (one: TestWorker): ChannelEnd[] =>
      [1, 2].map(() => {
        const writer = dial(engine, make(one).writer);
        writer.say(new Uint8Array(MIB - KIB));
        return writer;
      });
    expect(fill(page).map(({ socket }) => socket.isOpen)).toEqual([true, true]);
    const other = await browser();
    const reason = 'the reader is too slow, and no more is kept for it (limits.engine.channel_spill_bytes)';
    expect(fill(other).map(({ socket }) => socket.farewell)).toEqual([1, 2].map(() => ({ code: 1013, reason })));
    page.drop();
    expect(fill(other).map(({ socket }) => socket.isOpen)).toEqual([true, true]);
  });
});

describe('bytes kept for readers', () => {
  test('all channels of a connection share its limit, which does not apply to trusted writers', async () => {
    const channels = { channelsMax: 4, bytesMax: 3 * MIB, perSecondMax: 100 };
    const { engine, page, backend } = await open({ channels });
    const writers = [1, 2, 3, 4].map(() => dial(engine, make(page).writer));
    for (const writer of writers) writer.say(new Uint8Array(900 * KIB));
    expect(writers.map(({ socket }) => socket.farewell)).toEqual([
      ...[undefined, undefined, undefined],
      {
        code: 1013,
        reason: 'the reader is too slow, and no more is kept for it (limits.browser.channel_bytes)',
      },
    ]);
    expect(engine.count('channels.trouble', 'buffer_full')).toBe(1);
    expect(engine.logLines.join('\n')).toContain('limits.browser.channel_bytes');
    const trusted = dial(engine, make(backend).writer);
    for (let sent = 0; sent < 10; sent++) trusted.say(new Uint8Array(MIB));
    expect(trusted.socket.isOpen).toBe(true);
  });

  test('with the default limits, writers that respect credit never reach it, with all channels open', async () => {
    const channels = { channelsMax: 64, bytesMax: 48 * MIB, perSecondMax: 64 };
    const memory = { channels: { buffersBytesMax: 128 * MIB, bufferBytesMax: MIB, spillBytesMax: 64 * MIB } };
    const { engine, page } = await open({ channels, memory });
    const writers = Array.from({ length: 64 }, () => dial(engine, make(page).writer, true));
    for (const writer of writers) {
      expect(writer.granted).toEqual({ frames: 64, bytes: 512 * KIB });
      for (let sent = 0; sent < 512; sent += 32) writer.say(new Uint8Array(32 * KIB));
    }
    expect(writers.filter(({ socket }) => !socket.isOpen).length).toBe(0);
  });

  test('with a low limit, a writer is granted the credit of its part', async () => {
    const { engine, page } = await open({ channels: { channelsMax: 8, bytesMax: MIB, perSecondMax: 100 } });
    expect(dial(engine, make(page).writer, true).granted.bytes).toBe(128 * KIB);
  });
});

interface OpenOptions extends Pick<RestrictedOptions, 'memory'> {
  readonly channels?: { readonly channelsMax: number; readonly bytesMax: number; readonly perSecondMax: number };
}

async function open({ channels, memory }: OpenOptions = {}) {
  const opened = await openRestricted({
    ...(memory && { memory }),
    ...(channels && { browser: { channels } }),
    rbac: { allow_trigger_types: ['t'] },
  });
  const { engine, backend, browser } = opened;
  return { engine, backend, browser, page: await browser() };
}

/** The engine's refusal to create a channel. */
function ask(caller: TestWorker): unknown {
  return caller.answerTo(caller.invoke(CREATE)).error;
}

function make(caller: TestWorker): Made {
  const { result, error } = caller.answerTo(caller.invoke(CREATE));
  expect(error).toBeUndefined();
  return result as Made;
}

function knows(engine: EngineInMemory, { channel_id, access_key }: ChannelRef): boolean {
  return engine.context.channels.has(channel_id, access_key);
}

function dial(engine: EngineInMemory, { channel_id: id, direction }: ChannelRef, keepsToCredit = false): ChannelEnd {
  return new ChannelEnd((socket) => engine.context.channels.connect({ id, key: '', direction, socket, keepsToCredit }));
}
