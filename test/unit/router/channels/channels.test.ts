import { describe, expect, test, vi } from 'vitest';
import { openChannel, type PeerFrame } from '../../../support/clients/channel-ends.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { forEachSeedInTurn, RUNS_ALL_SEEDS } from '../../../support/random/seeded-random.ts';

const KIB = 1024;
const MINUTE = 60_000;

describe('making a channel', () => {
  test('[wire 7] A caller gets a reference to each end, with one id and one unguessable key', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const { result } = caller.answerTo(caller.invoke('engine::channels::create', { buffer_size: 10 }));
    const uuid = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const ref = { channel_id: uuid, access_key: uuid };
    expect(result).toEqual({ writer: { ...ref, direction: 'write' }, reader: { ...ref, direction: 'read' } });
    const { writer, reader } = result as ReturnType<typeof engine.context.channels.create>;
    expect(reader).toEqual({ ...writer, direction: 'read' });
    expect(writer.access_key).not.toBe(writer.channel_id);
    expect(engine.context.channels.has(writer.channel_id, writer.access_key)).toBe(true);
    expect(engine.context.channels.has(writer.channel_id, writer.channel_id)).toBe(false);
    expect(engine.context.channels.has(writer.access_key, writer.access_key)).toBe(false);
    expect(engine.context.channels.has(writer.channel_id, '')).toBe(false);
  });

  test.each([undefined, {}, { buffer_size: null }, { buffer_size: 1e9 }, { buffer_size: -1 }])(
    '[wire 7] The payload %j is accepted',
    (payload) => {
      const engine = new EngineInMemory();
      const caller = engine.connect();
      expect(caller.answerTo(caller.invoke('engine::channels::create', payload))).toHaveProperty('result.writer');
    },
  );

  test('[wire 7] A buffer size that is not a number is refused', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const { error } = caller.answerTo(caller.invoke('engine::channels::create', { buffer_size: 'many' }));
    expect(error).toMatchObject({ code: 'deserialization_error', message: expect.stringContaining("'buffer_size'") });
  });

  test('[guarantees 4] The number of channels is limited, and an ended one makes room', () => {
    const engine = new EngineInMemory({ channels: { channelsMax: 2 } });
    const [first] = [openChannel(engine), openChannel(engine)];
    expect(() => openChannel(engine)).toThrow('There are 2 channels already (limits.engine.channels)');
    expect(engine.count('channels.refused', 'too_many')).toBe(1);
    const [writer, reader] = [first.dialWriter(), first.dialReader()];
    writer.leave();
    expect(reader.socket.farewell).toEqual({ code: 1000, reason: 'stream_complete' });
    openChannel(engine);
  });

  test('[PD-52] A channel outlives the connection that asked for it', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const { result } = caller.answerTo(caller.invoke('engine::channels::create'));
    const { channel_id, access_key } = (result as ReturnType<typeof engine.context.channels.create>).writer;
    caller.drop();
    expect(engine.context.channels.has(channel_id, access_key)).toBe(true);
  });
});

describe('what flows through a channel', () => {
  test('[wire 7] Frames arrive in order and unchanged: text, bytes and empty ones', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    const frames: PeerFrame[] = ['é€😀', Uint8Array.of(0, 255, 128), '', new Uint8Array(0), '{"type":"credit"}'];
    for (const frame of frames) writer.say(frame);
    expect(reader.socket.frames).toEqual(frames);
    expect(writer.socket.frames).toEqual([]);
  });

  test('[wire 7] Either side may connect first', () => {
    const engine = new EngineInMemory();
    const early = openChannel(engine);
    const writer = early.dialWriter();
    writer.say('before');
    writer.leave();
    const late = early.dialReader();
    expect(late.socket.frames).toEqual(['before']);
    expect(late.socket.farewell).toEqual({ code: 1000, reason: 'stream_complete' });
  });

  test('[wire 7] Frames of a foreign reader are not delivered', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.say('anything');
    reader.say(Uint8Array.of(1));
    expect(writer.socket.frames).toEqual([]);
    expect(reader.socket.isOpen).toBe(true);
  });

  test('[wire 7] A second connection to an end is closed at once, and the first stays', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    const seconds = [channel.dialWriter({ credit: true }), channel.dialReader()];
    for (const { socket } of seconds) expect(socket.farewell).toMatchObject({ code: 1008 });
    expect(seconds.flatMap(({ socket }) => socket.frames)).toEqual([]);
    writer.say('still here');
    expect(reader.socket.frames).toEqual(['still here']);
    expect(engine.count('channels.trouble', 'end_taken')).toBe(2);
  });

  test('[X22] Keys appear in no log line', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 1, spillBytesMax: 0 } });
    const channel = openChannel(engine);
    const [writer] = [channel.dialWriter(), channel.dialWriter()];
    writer.say('does not fit');
    engine.advance(6 * MINUTE);
    expect(engine.logLines.join('\n')).toContain(channel.id);
    expect(engine.logLines.join('\n')).not.toContain(channel.key);
  });
});

describe('the end of a channel', () => {
  test.each([1000, 1001, 1005, 1011, 4000])(
    '[wire 7] A close of the writer with %i is the end of the stream',
    (code) => {
      const engine = new EngineInMemory();
      const channel = openChannel(engine);
      const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
      writer.say('all');
      writer.leave(code);
      expect(reader.socket.frames).toEqual(['all']);
      expect(reader.socket.farewell).toEqual({ code: 1000, reason: 'stream_complete' });
      expect(engine.context.channels.count).toBe(0);
    },
  );

  test.each([
    ['breaks off', 1006, false],
    ['was closed for a message over the limit', 1009, true],
  ])(
    '[CH5] When the writer %s, the reader gets what was sent and can see that it is not complete',
    (_case, code, isLong) => {
      const engine = new EngineInMemory();
      const channel = openChannel(engine);
      const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
      reader.socket.stopReading();
      writer.say(new Uint8Array(600 * KIB));
      writer.say('after it');
      writer.leave(code, isLong);
      expect(reader.socket.farewell).toBeUndefined();
      reader.socket.readOn();
      engine.advance(10);
      expect(reader.socket.frames.at(-1)).toBe('after it');
      expect(reader.socket.farewell).toMatchObject({ code: 4420 });
      expect(engine.count('channels.trouble', 'writer_lost')).toBe(1);
    },
  );

  test('[G1] A reader is closed after its socket has taken everything, and the engine waits for that', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.socket.stopReading();
    writer.say('unread');
    writer.leave();
    engine.advance(100);
    expect(reader.socket.farewell).toBeUndefined();
    expect(engine.context.channels.isDelivering).toBe(true);
    reader.socket.readOn();
    engine.advance(32);
    expect(reader.socket.farewell).toMatchObject({ code: 1000 });
    expect(engine.context.channels.isDelivering).toBe(false);
  });

  test('[guarantees 4] A reader that leaves while its file is read frees the budgets once', async () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 1, spillsBytesMax: 10 * KIB } });
    const [left, next] = [openChannel(engine), openChannel(engine)];
    left.dialWriter().say(new Uint8Array(8 * KIB));
    left.dialReader().leave();
    await engine.turn();
    const writer = next.dialWriter();
    writer.say(new Uint8Array(9 * KIB));
    expect(writer.socket.isOpen).toBe(true);
    writer.say(new Uint8Array(2 * KIB));
    expect(writer.socket.farewell).toMatchObject({ code: 1013 });
  });

  test('[wire 7] When the reader leaves, the writer is closed and nothing is kept', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: KIB } });
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.socket.stopReading();
    for (let frame = 0; frame < 4; frame++) writer.say(new Uint8Array(300 * KIB));
    expect(engine.spillFiles.openCount).toBe(1);
    reader.leave(1006);
    expect(writer.socket.farewell).toMatchObject({ code: 4420, reason: 'the reader is gone' });
    expect(engine.spillFiles.openCount).toBe(0);
    expect(engine.context.channels.count).toBe(0);
    expect(channel.dialWriter().socket.farewell).toMatchObject({ code: 4420 });
  });

  test('[wire 7] A writer that connects after the reader has left is closed with that reason', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    channel.dialReader().leave();
    expect(channel.dialWriter({ credit: true }).socket.farewell).toMatchObject({ code: 4420 });
    expect(engine.context.channels.count).toBe(0);
  });

  test('[PD-52] A channel with an unconnected end is removed after five minutes', () => {
    const engine = new EngineInMemory();
    const [unused, written, used] = [openChannel(engine), openChannel(engine), openChannel(engine)];
    const writer = written.dialWriter();
    writer.say('unused');
    const pair = [used.dialWriter(), used.dialReader()];
    engine.advance(5 * MINUTE - 1);
    expect(engine.context.channels.count).toBe(3);
    engine.advance(MINUTE);
    expect(engine.context.channels.has(unused.id, unused.key)).toBe(false);
    expect(writer.socket.farewell).toMatchObject({ code: 4420, reason: expect.stringContaining('5 minutes') });
    expect(pair.every(({ socket }) => socket.isOpen)).toBe(true);
    expect(engine.count('channels.trouble', 'never_taken')).toBe(2);
    engine.advance(1000 * MINUTE);
    expect(pair.every(({ socket }) => socket.isOpen)).toBe(true);
  });

  test('[wire 1.6] A silent end is neither pinged nor closed', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const ends = [channel.dialWriter(), channel.dialReader()];
    engine.advance(1000 * MINUTE);
    expect(ends.map(({ socket }) => [socket.isOpen, socket.pingCount])).toEqual([
      [true, 0],
      [true, 0],
    ]);
  });

  test('[G1] An engine that stops closes all ends, timers and files', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: KIB } });
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    const waiting = openChannel(engine).dialReader();
    reader.socket.stopReading();
    for (let frame = 0; frame < 4; frame++) writer.say(new Uint8Array(300 * KIB));
    engine.context.channels.stop();
    for (const { socket } of [writer, reader, waiting]) expect(socket.farewell).toMatchObject({ code: 1001 });
    engine.stop();
    expect(engine.clock.timerCount).toBe(0);
    expect(engine.spillFiles.openCount).toBe(0);
  });

  test('[R6] Timers run only while there are channels', () => {
    const engine = new EngineInMemory();
    const before = engine.clock.timerCount;
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.socket.stopReading();
    for (let frame = 0; frame < 5; frame++) writer.say(new Uint8Array(200 * KIB));
    expect(engine.clock.timerCount).toBe(before + 2);
    reader.socket.readOn();
    engine.advance(10);
    expect(engine.clock.timerCount).toBe(before + 1);
    writer.leave();
    engine.advance(MINUTE);
    expect(engine.clock.timerCount).toBe(before);
  });
});

describe('a reader that is slower than a foreign writer', () => {
  test('[CH3] Frames over the room of its socket are kept in memory, then in a file', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 128 * KIB } });
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.socket.stopReading();
    for (let frame = 0; frame < 20; frame++) writer.say(new Uint8Array(64 * KIB));
    expect(reader.socket.bufferedBytes).toBeLessThanOrEqual((512 + 64) * KIB);
    const [file] = engine.spillFiles.files;
    expect(file?.bytes).toBeGreaterThan(500 * KIB);
    expect(file?.ringBytes).toBe(64 * KIB * KIB);
  });

  test('[CH3] A socket that was full for a moment gets the remaining frames too', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const writer = channel.dialWriter();
    for (let frame = 0; frame < 12; frame++) writer.say(new Uint8Array(64 * KIB));
    const reader = channel.dialReader({ eager: true });
    expect(reader.socket.frames.length).toBeLessThan(12);
    engine.advance(20);
    expect(reader.socket.frames).toHaveLength(12);
  });

  test('[CH3] It is checked about thirty times a second, and gets frames soon after it reads on', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.socket.stopReading();
    for (let frame = 0; frame < 12; frame++) writer.say(new Uint8Array(64 * KIB));
    engine.advance(1000);
    const looks = vi.spyOn(engine.clock, 'after');
    engine.advance(10_000);
    expect(looks.mock.calls.length).toBeGreaterThan(100);
    expect(looks.mock.calls.length).toBeLessThan(400);
    reader.socket.readOn();
    engine.advance(32);
    expect(reader.socket.frames).toHaveLength(12);
  });

  test('[CH3] The writer is closed with 1013 when the file is full, and earlier frames are delivered', async () => {
    const limits = { bufferBytesMax: 64 * KIB, spillBytesMax: 256 * KIB };
    const engine = new EngineInMemory({ channels: limits });
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.socket.stopReading();
    let sent = 0;
    while (writer.socket.isOpen && sent < 1000) writer.say(Uint8Array.of(...Buffer.alloc(10 * KIB, sent++)));
    expect(writer.socket.farewell).toMatchObject({ code: 1013 });
    expect(engine.count('channels.trouble', 'buffer_full')).toBe(1);
    reader.socket.readOn();
    for (let turn = 0; turn < 20; turn++) {
      engine.advance(10);
      await engine.turn();
    }
    // The frame that did not fit is the one that is missing.
    expect(reader.socket.frames.map((frame) => Buffer.from(frame as Uint8Array)[0])).toEqual(
      Array.from({ length: sent - 1 }, (_, serial) => serial % 256),
    );
    expect(reader.socket.farewell).toMatchObject({ code: 4420 });
    expect(engine.spillFiles.openCount).toBe(0);
  });

  test('[CH3] No frame is lost, repeated or reordered, whichever side is slow', async () => {
    let spilled = 0;
    await forEachSeedInTurn(40, async (random) => {
      const engine = new EngineInMemory({ channels: { bufferBytesMax: random.pick([1, 20 * KIB, 200 * KIB]) } });
      const channel = openChannel(engine);
      const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
      const sent: PeerFrame[] = [];
      for (let step = 0; step < 120; step++) {
        if (random.chance(15)) reader.socket.stopReading();
        if (random.chance(15)) reader.socket.readOn();
        if (random.chance(10)) await engine.turn();
        if (random.chance(10)) engine.advance(5);
        const size = random.pick([0, 10, 5 * KIB, 90 * KIB]);
        const frame = random.chance(50) ? `${step}`.padEnd(size, 'é') : new Uint8Array(size).fill(step);
        sent.push(frame);
        writer.say(frame);
      }
      writer.leave();
      reader.socket.readOn();
      for (let turn = 0; turn < 200 && reader.socket.isOpen; turn++) {
        engine.advance(5);
        await engine.turn();
        reader.socket.readOn();
      }
      expect(reader.socket.farewell).toEqual({ code: 1000, reason: 'stream_complete' });
      expect(reader.socket.frames.length).toBe(sent.length);
      expect(reader.socket.frames.every((frame, index) => isSame(frame, sent[index]))).toBe(true);
      expect(engine.spillFiles.openCount).toBe(0);
      spilled += engine.spillFiles.files.length;
    });
    // About half of the seeds spill, 152 of 300 when it was measured: of 40, none does once in 10^12 runs.
    if (RUNS_ALL_SEEDS) expect(spilled).toBeGreaterThan(0);
  });

  test.each(['open', 'append'] as const)(
    '[CH3] When the disk fails to %s, both ends are closed and nothing is left',
    (what) => {
      const engine = new EngineInMemory({ channels: { bufferBytesMax: KIB } });
      const channel = openChannel(engine);
      const writer = channel.dialWriter();
      if (what === 'append') writer.say(new Uint8Array(2 * KIB));
      engine.spillFiles.failure = new Error('ENOSPC: no space left on device, write');
      writer.say(new Uint8Array(2 * KIB));
      expect(writer.socket.farewell).toMatchObject({ code: 1011 });
      expect(engine.context.channels.count).toBe(0);
      expect(engine.spillFiles.openCount).toBe(0);
      expect(engine.logLines.join('\n')).toContain('ENOSPC');
    },
  );

  test('[guarantees 4] All channels together have a limit of memory', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 100 * KIB, buffersBytesMax: 150 * KIB } });
    const writers = [openChannel(engine), openChannel(engine)].map((channel) => channel.dialWriter());
    for (const writer of writers) for (let frame = 0; frame < 9; frame++) writer.say(new Uint8Array(10 * KIB));
    expect(engine.spillFiles.files).toHaveLength(1);
  });
});

function isSame(frame: PeerFrame, expected: PeerFrame | undefined): boolean {
  if (typeof frame === 'string' || typeof expected === 'string') return frame === expected;
  return expected !== undefined && Buffer.compare(frame, expected) === 0;
}
