// Contract of the transport: messages of clients.

import { expect, test } from 'vitest';
import { encodeFrame } from '../../support/clients/bare-socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ContractPort, type TransportUnderTest } from './contract-port.ts';
import { OPCODE, upgradeRequest } from './frame-client.ts';

const MIB = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** Both sides of every step in the encoding of lengths. */
export const FRAME_SIZES: readonly number[] = [0, 1, 125, 126, 127, 4_096, 65_535, 65_536, 65_537, MIB];

/** Bytes that differ by position and by seed, and are UTF-8. */
export function patternOf(bytes: number, seed = 0): Buffer {
  return bytes === 0 ? NOTHING : Buffer.alloc(bytes, PATTERN.subarray(seed % 80));
}

const PATTERN = Buffer.from(Array.from({ length: 9_973 }, (_, index) => 0x20 + ((index * 7) % 90)));

export function testMessages(transport: TransportUnderTest): void {
  test('[wire 1.5] arrives in its order with its kind, at any size', async () => {
    await using port = await ContractPort.open(transport, { frameBytesMax: 2 * MIB });
    const { client, connection } = await port.connect();
    const sent = FRAME_SIZES.flatMap((size) => [
      { bytes: patternOf(size, 1), isBinary: false },
      { bytes: patternOf(size, 2), isBinary: true },
    ]);
    client.send(
      ...sent.map(({ bytes, isBinary }) => ({ opcode: isBinary ? OPCODE.binary : OPCODE.text, payload: bytes })),
    );
    await connection.hears(sent.length);
    expect(connection.messages.map(({ bytes, isBinary }) => [bytes.length, isBinary])).toEqual(
      sent.map(({ bytes, isBinary }) => [bytes.length, isBinary]),
    );
    for (const [index, { bytes }] of connection.messages.entries()) expect(sent[index]?.bytes.equals(bytes)).toBe(true);
  });

  test('[wire 1.5] may be as large as the limit, and arrives unchanged', { timeout: 30_000 }, async () => {
    await using port = await ContractPort.open(transport, { frameBytesMax: 16 * MIB });
    const { client, connection } = await port.connect();
    const payload = patternOf(16 * MIB);
    client.send({ opcode: OPCODE.text, payload });
    await connection.hears(1);
    expect(connection.messages[0]?.bytes.equals(payload)).toBe(true);
  });

  test('[wire 1.5] may come byte by byte', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.setNoDelay(true);
    const bytes = Buffer.concat([
      encodeFrame({ opcode: OPCODE.text, payload: Buffer.from('one') }),
      encodeFrame({ opcode: OPCODE.binary, payload: patternOf(130) }),
    ]);
    for (const byte of bytes) {
      await new Promise<void>((resolve) => client.socket.write(Buffer.from([byte]), () => resolve()));
    }
    await connection.hears(2);
    expect(connection.texts).toEqual(['one', patternOf(130).toString()]);
  });

  test('[wire 1.5] may come in fragments, with pings between them, and arrives once', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const euro = Buffer.from('€');
    client.send(
      { opcode: OPCODE.text, payload: Buffer.from('10 '), fin: false },
      { opcode: OPCODE.ping, payload: Buffer.from('still there?') },
      // A character may be cut in two.
      { opcode: OPCODE.continuation, payload: euro.subarray(0, 1), fin: false },
      { opcode: OPCODE.continuation, payload: NOTHING, fin: false },
      { opcode: OPCODE.pong, payload: NOTHING },
      { opcode: OPCODE.continuation, payload: euro.subarray(1) },
      { opcode: OPCODE.binary, payload: NOTHING, fin: false },
      { opcode: OPCODE.continuation, payload: Buffer.from([0xff]) },
      { opcode: OPCODE.text, payload: Buffer.from('whole') },
    );
    await connection.hears(3);
    expect(connection.messages).toEqual([
      { bytes: Buffer.from('10 €'), isBinary: false },
      { bytes: Buffer.from([0xff]), isBinary: true },
      { bytes: Buffer.from('whole'), isBinary: false },
    ]);
    expect(connection.heardCount).toBe(2);
    expect(await client.next()).toMatchObject({ opcode: OPCODE.pong, payload: Buffer.from('still there?') });
  });

  test('[wire 1.5] arrives although it came in one piece with the upgrade request', async ({ skip }) => {
    const { keepEarlyFrames } = transport.cannot;
    skip(keepEarlyFrames !== undefined, keepEarlyFrames);
    await using port = await ContractPort.open(transport);
    const early = encodeFrame({ opcode: OPCODE.text, payload: Buffer.from('early') });
    const { client, connection } = await port.connect(Buffer.concat([Buffer.from(upgradeRequest()), early]));
    client.sendText('in time');
    await connection.hears(2);
    expect(connection.texts).toEqual(['early', 'in time']);
  });

  test('[W1] that is a ping is answered with its payload and counts as a sign of life', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const words = Array.from({ length: 500 }, (_, index) => Buffer.alloc(index % 126, String(index)));
    client.send(...words.map((payload) => ({ opcode: OPCODE.ping, payload })));
    for (const payload of words) expect(await client.next()).toMatchObject({ opcode: OPCODE.pong, fin: true, payload });
    expect(connection.heardCount).toBe(words.length);
    expect(connection.messages).toEqual([]);
  });

  test('[W1] that is a pong counts as a sign of life, requested or not', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.send({ opcode: OPCODE.pong, payload: Buffer.from('unasked') });
    connection.socket.ping();
    const ping = await client.next();
    expect(ping).toMatchObject({ opcode: OPCODE.ping, fin: true, masked: false });
    client.send({ opcode: OPCODE.pong, payload: ping.payload });
    await waitFor('both are reported', () => connection.heardCount === 2);
    expect(connection.messages).toEqual([]);
  });

  test('[I7] arrives although its sender does not read what it is sent', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.pause();
    while (connection.socket.bufferedBytes < 4 * MIB) connection.socket.sendBinary(Buffer.alloc(MIB));
    for (let round = 0; round < 100; round++) client.sendText(`round ${round}`);
    await connection.hears(100);
    expect(connection.texts.at(-1)).toBe('round 99');
  });
}
