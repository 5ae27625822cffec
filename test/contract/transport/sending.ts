// Contract of the transport: messages of the engine.

import { expect, test } from 'vitest';
import { textToByteString } from '../../../src/protocol/json/byte-string.ts';
import { PreparedTexts } from '../../../src/transport/server-frames.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ContractPort, type TransportUnderTest } from './contract-port.ts';
import { type FrameClient, OPCODE, type ServerFrame } from './frame-client.ts';
import { FRAME_SIZES, patternOf } from './messages.ts';

const MIB = 1024 * 1024;

async function take(client: FrameClient, count: number): Promise<ServerFrame[]> {
  await waitFor(`${count} frames arrive`, () => client.frames.length >= count, 20_000);
  return client.frames.splice(0, count);
}

export function testSending(transport: TransportUnderTest): void {
  testFrames(transport);
  testPrepared(transport);
  testSlowReaders(transport);
}

function testFrames(transport: TransportUnderTest): void {
  test('[wire 1.5] leaves in its order, each message as one whole frame, at any size', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    for (const size of FRAME_SIZES) {
      expect(connection.socket.sendText(textToByteString(patternOf(size, 1).toString()))).toBe(true);
      expect(connection.socket.sendBinary(patternOf(size, 2))).toBe(true);
    }
    const frames = await take(client, 2 * FRAME_SIZES.length);
    for (const [index, frame] of frames.entries()) {
      const isBinary = index % 2 === 1;
      expect(frame).toMatchObject({ fin: true, reserved: 0, masked: false });
      expect(frame.opcode).toBe(isBinary ? OPCODE.binary : OPCODE.text);
      const expected = patternOf(FRAME_SIZES[Math.floor(index / 2)] ?? 0, isBinary ? 2 : 1);
      expect(frame.payload.equals(expected)).toBe(true);
    }
  });

  test('[wire 1.5] arrives as UTF-8, with any text', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const texts = ['', 'plain', 'é€😀', '\0\x7f\u0080', 'ü'.repeat(300_000)];
    for (const text of texts) connection.socket.sendText(textToByteString(text));
    const frames = await take(client, texts.length);
    expect(frames.map(({ payload }) => payload.toString())).toEqual(texts);
  });

  test('[guarantees 2] under one cork stays separate frames in their order', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const { socket } = connection;
    socket.cork(() => {
      for (let index = 0; index < 1_000; index++) {
        if (index % 2 === 0) socket.sendText(textToByteString(`text ${index}`));
        else socket.sendBinary(Buffer.from(`bytes ${index}`));
      }
      // Larger than any buffer of a library.
      socket.sendBinary(patternOf(3 * MIB));
      socket.sendText(textToByteString('after it'));
    });
    const frames = await take(client, 1_002);
    const large = frames.splice(1_000, 1);
    expect(large[0]?.payload.equals(patternOf(3 * MIB))).toBe(true);
    expect(frames.map(({ payload }) => payload.toString())).toEqual([
      ...Array.from({ length: 1_000 }, (_, index) => `${index % 2 === 0 ? 'text' : 'bytes'} ${index}`),
      'after it',
    ]);
  });

  test('[guarantees 2] leaves although something failed under the cork, and so do later messages', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const { socket } = connection;
    expect(() =>
      socket.cork(() => {
        socket.sendBinary(Buffer.from('before'));
        throw new Error('a bug of the engine');
      }),
    ).toThrow('a bug of the engine');
    socket.sendBinary(Buffer.from('after'));
    const frames = await take(client, 2);
    expect(frames.map(({ payload }) => payload.toString())).toEqual(['before', 'after']);
  });

  test('[L5] has the bytes at the time of the call: the buffer may be reused at once', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const { socket } = connection;
    client.socket.pause();
    const buffer = Buffer.alloc(MIB);
    const send = (fill: number): void => {
      buffer.fill(fill);
      socket.sendBinary(buffer);
      socket.sendBinary(buffer.subarray(0, 10));
    };
    // More than the operating system takes: part of it waits in the library while the buffer changes.
    for (let fill = 1; fill <= 20; fill++) send(fill);
    socket.cork(() => {
      for (let fill = 21; fill <= 40; fill++) send(fill);
    });
    buffer.fill(255);
    expect(socket.bufferedBytes).toBeGreaterThan(10 * MIB);
    client.socket.resume();
    const frames = await take(client, 80);
    for (const [index, { payload }] of frames.entries()) {
      const fill = 1 + Math.floor(index / 2);
      expect(payload.equals(Buffer.alloc(index % 2 === 0 ? MIB : 10, fill)), `frame ${index}`).toBe(true);
    }
  });

  test('[wire 1.7] during a message callback leaves after earlier messages', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    connection.whenMessage = ({ bytes }) => connection.socket.sendBinary(bytes);
    connection.socket.sendBinary(Buffer.from('first'));
    client.send(...['a', 'b', 'c'].map((text) => ({ opcode: OPCODE.text, payload: Buffer.from(text) })));
    const frames = await take(client, 4);
    expect(frames.map(({ payload }) => payload.toString())).toEqual(['first', 'a', 'b', 'c']);
  });
}

function testPrepared(transport: TransportUnderTest): void {
  test('[T6] prepared texts arrive as one frame each, at every client, at any size', async () => {
    await using port = await ContractPort.open(transport);
    const ends = await port.connectMany(3);
    const texts = FRAME_SIZES.map((size) => patternOf(size, 1));
    const prepared = new PreparedTexts(texts);
    for (const { connection } of ends) {
      expect(connection.socket.sendPrepared(prepared)).toBe(true);
      expect(connection.socket.sendPrepared(new PreparedTexts([Buffer.from('é€😀')]))).toBe(true);
    }
    for (const { client } of ends) {
      const frames = await take(client, texts.length + 1);
      expect(frames.map(({ opcode }) => opcode)).toEqual(frames.map(() => OPCODE.text));
      expect(frames.map(({ payload }) => payload.length)).toEqual([...FRAME_SIZES, Buffer.byteLength('é€😀')]);
      expect(frames.at(-1)?.payload.toString()).toBe('é€😀');
    }
    const [gone] = ends;
    gone?.connection.socket.terminate();
    expect(gone?.connection.socket.sendPrepared(prepared)).toBe(true);
  });
}

function testSlowReaders(transport: TransportUnderTest): void {
  test('[I7] to a client that does not read is counted, and all of it arrives once it reads', {
    timeout: 30_000,
  }, async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const { socket } = connection;
    expect(socket.bufferedBytes).toBe(0);
    client.socket.pause();
    let sent = 0;
    // Below the limit that the port was opened with, nothing may be dropped.
    for (let before = 0; socket.bufferedBytes < 48 * MIB; before = socket.bufferedBytes) {
      expect(socket.bufferedBytes).toBeGreaterThanOrEqual(before);
      expect(socket.sendBinary(patternOf(100_000, sent))).toBe(true);
      expect(socket.sendText(textToByteString(`number ${sent}`))).toBe(true);
      sent += 1;
    }
    client.socket.resume();
    const frames = await take(client, 2 * sent);
    for (let index = 0; index < sent; index++) {
      expect(frames[2 * index]?.payload.equals(patternOf(100_000, index)), `frame ${index}`).toBe(true);
      expect(frames[2 * index + 1]?.payload.toString()).toBe(`number ${index}`);
    }
    await waitFor('nothing is counted any more', () => socket.bufferedBytes === 0);
  });

  test.each([200, 100_000, 8 * MIB])(
    '[T5] to a client that does not read calls back once it is sent, with %i bytes',
    async (bytes) => {
      await using port = await ContractPort.open(transport);
      const { client, connection } = await port.connect();
      const { socket } = connection;
      client.socket.pause();
      while (socket.bufferedBytes === 0) socket.sendBinary(patternOf(MIB));
      socket.sendBinary(patternOf(bytes));
      let sentCount = 0;
      let waitingBytes = -1;
      socket.whenDrained(() => {
        sentCount += 1;
        waitingBytes = socket.bufferedBytes;
        // Messages sent inside the callback leave like any other.
        socket.sendBinary(Buffer.from('after it'));
      });
      expect(sentCount).toBe(0);
      client.socket.resume();
      await waitFor('the send is reported', () => sentCount > 0);
      await waitFor('all frames have arrived', () => client.frames.at(-1)?.payload.toString() === 'after it', 20_000);
      expect([sentCount, waitingBytes]).toEqual([1, 0]);
    },
  );

  test('[T5] to a client that has left never calls back', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const { socket } = connection;
    client.socket.pause();
    // More than the operating system takes, also where a library counts what it has not handed over yet.
    while (socket.bufferedBytes < 32 * MIB) socket.sendBinary(patternOf(MIB));
    let isTold = false;
    socket.whenDrained(() => {
      isTold = true;
    });
    client.socket.destroy();
    await waitFor('the loss is noticed', () => !socket.isOpen);
    expect(isTold).toBe(false);
  });

  test('[L5] to a client that reads is not counted any more by the time it has arrived', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    for (let round = 0; round < 20; round++) {
      connection.socket.sendBinary(patternOf(10_000));
      await take(client, 1);
      expect(connection.socket.bufferedBytes).toBe(0);
    }
  });
}
