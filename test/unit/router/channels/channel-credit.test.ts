import { describe, expect, test } from 'vitest';
import { READER_WINDOW } from '../../../../src/protocol/frames/channel-credit.ts';
import { openChannel } from '../../../support/clients/channel-ends.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const KIB = 1024;

describe('a writer that keeps to credit', () => {
  test('[CH1] It is granted one window at once: the buffer size in frames, half of the buffer in bytes', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 200 * KIB } });
    expect(openChannel(engine, 5).dialWriter({ credit: true }).granted).toEqual({ frames: 5, bytes: 100 * KIB });
    expect(openChannel(engine).dialWriter({ credit: true }).granted).toEqual({ frames: 64, bytes: 100 * KIB });
  });

  test('[CH1] It gets credit for frames that were sent to the reader, and none for kept frames', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine, 4);
    const writer = channel.dialWriter({ credit: true });
    for (let frame = 0; frame < 4; frame++) writer.say('x'.repeat(10));
    expect(writer.granted.frames).toBe(4);
    const reader = channel.dialReader();
    expect(reader.socket.frames).toHaveLength(4);
    expect(writer.granted.frames).toBe(8);
  });

  test('[CH3] A writer that exceeds its credit takes no more memory than a foreign one', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 64 * KIB } });
    const writer = openChannel(engine, 1).dialWriter({ credit: true });
    for (let frame = 0; frame < 10; frame++) writer.say(new Uint8Array(60 * KIB));
    expect(engine.spillFiles.files[0]?.bytes).toBeGreaterThan(500 * KIB);
  });

  test('[CH1] It is granted nothing after the engine has closed it', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 10 * KIB, spillBytesMax: 0 } });
    const channel = openChannel(engine);
    const writer = channel.dialWriter({ credit: true });
    writer.say(new Uint8Array(9 * KIB));
    writer.say(new Uint8Array(9 * KIB));
    expect(writer.socket.farewell).toMatchObject({ code: 1013 });
    const { frames } = writer.granted;
    expect(channel.dialReader().socket.frames).toHaveLength(1);
    expect(writer.granted.frames).toBe(frames);
  });
});

describe('a reader that grants credit', () => {
  test('[CH1] It is sent one window of frames before its first grant, and then only what it grants', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader({ credit: true })];
    const { frames } = READER_WINDOW;
    for (let frame = 0; frame < frames + 10; frame++) writer.say(`${frame}`);
    expect(reader.socket.frames).toHaveLength(frames);
    reader.grant({ frames: 3, bytes: 0 });
    expect(reader.socket.frames.slice(frames)).toEqual([`${frames}`, `${frames + 1}`, `${frames + 2}`]);
    reader.grant({ frames: 100, bytes: 0 });
    expect(reader.socket.frames).toHaveLength(frames + 10);
  });

  test('[CH1] Bytes are counted too, and the last frame may exceed them', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader({ credit: true })];
    writer.say(new Uint8Array(READER_WINDOW.bytes - 5));
    for (let frame = 0; frame < 4; frame++) writer.say(new Uint8Array(10));
    expect(reader.socket.frames).toHaveLength(2);
    reader.grant({ frames: 0, bytes: 5 });
    expect(reader.socket.frames).toHaveLength(2);
    reader.grant({ frames: 0, bytes: 1 });
    expect(reader.socket.frames).toHaveLength(3);
  });

  test('[CH1] The stream ends after it has granted credit for every frame', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader({ credit: true })];
    writer.say(new Uint8Array(READER_WINDOW.bytes));
    writer.say('the last');
    writer.leave();
    expect(reader.socket.farewell).toBeUndefined();
    reader.grant({ frames: 1, bytes: 100 });
    expect(reader.socket.frames.at(-1)).toBe('the last');
    expect(reader.socket.farewell).toMatchObject({ code: 1000 });
  });

  test.each(['hello', '{"type":"credit","frames":-1,"bytes":0}', Uint8Array.of(1, 2)])(
    '[CH2] If it sends %j, it is closed with 1002 and the writer with the reason',
    (frame) => {
      const engine = new EngineInMemory();
      const channel = openChannel(engine);
      const [writer, reader] = [channel.dialWriter(), channel.dialReader({ credit: true })];
      reader.say(frame);
      expect(reader.socket.farewell).toMatchObject({ code: 1002 });
      expect(writer.socket.farewell).toMatchObject({ code: 4420 });
      expect(engine.count('channels.trouble', 'protocol_error')).toBe(1);
    },
  );

  test('[CH2] The same text is ignored from a reader that did not ask for credit', () => {
    const engine = new EngineInMemory();
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter(), channel.dialReader()];
    reader.grant({ frames: 0, bytes: 0 });
    writer.say('flows');
    expect(reader.socket.frames).toEqual(['flows']);
  });

  test('[CH1] With credit on both sides the engine keeps no more than one window', () => {
    const engine = new EngineInMemory({ channels: { bufferBytesMax: 256 * KIB } });
    const channel = openChannel(engine);
    const [writer, reader] = [channel.dialWriter({ credit: true }), channel.dialReader({ credit: true })];
    let [sent, spent] = [0, 0];
    const write = (): void => {
      for (; sent < writer.granted.frames && spent < writer.granted.bytes; sent++, spent += 9 * KIB) {
        writer.say(new Uint8Array(9 * KIB));
      }
    };
    write();
    for (let round = 0; round < 200; round++) {
      reader.grant({ frames: 10, bytes: 20 * KIB });
      write();
      expect(sent - reader.socket.frames.length).toBeLessThanOrEqual(64);
      expect(spent - reader.socket.frames.length * 9 * KIB).toBeLessThanOrEqual((128 + 9) * KIB);
    }
    expect(reader.socket.frames.length).toBeGreaterThan(200);
    expect(engine.spillFiles.files).toEqual([]);
  });
});
