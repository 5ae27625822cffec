// Contract of the transport: how connections end, by the engine, by the client or by neither.

import { expect, test } from 'vitest';
import { textToByteString } from '../../../src/protocol/json/byte-string.ts';
import { type BareFrame, encodeFrame } from '../../support/clients/bare-socket.ts';
import { within } from '../../support/wait-for.ts';
import { type Connection, ContractPort, type TransportUnderTest } from './contract-port.ts';
import { reset } from './dialling.ts';
import { closeFrame, OPCODE } from './frame-client.ts';

const MIB = 1024 * 1024;
const ABNORMAL = { code: 1006, isOverlong: false };
const FRAME = Buffer.from('{"type":"ping"}');

export function testClosing(transport: TransportUnderTest): void {
  testOwnWord(transport);
  testPeersWord(transport);
  testLoss(transport);
  testOffences(transport);
}

/** Calls on a closed connection do nothing. */
function expectDead({ socket, closings }: Connection): void {
  const before = closings.length;
  expect(socket.isOpen).toBe(false);
  expect(socket.bufferedBytes).toBe(0);
  expect(socket.sendText(textToByteString('too late'))).toBe(true);
  expect(socket.sendBinary(Buffer.from('too late'))).toBe(true);
  socket.cork(() => socket.sendBinary(Buffer.from('too late')));
  socket.ping();
  socket.close(1000, 'again');
  socket.terminate();
  expect(closings.length).toBe(before);
}

function testOwnWord(transport: TransportUnderTest): void {
  test('[wire 1.10] by the engine is reported at once, and the client gets code and reason', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    connection.socket.sendBinary(Buffer.from('last words'));
    connection.socket.close(4400, 'replaced by a newer one – ü');
    expect(connection.closings).toEqual([{ code: 4400, isOverlong: false }]);
    expectDead(connection);
    expect(await client.goodbye()).toEqual({ code: 4400, reason: 'replaced by a newer one – ü' });
    expect(client.frames.map(({ payload }) => payload.toString()).slice(0, -1)).toEqual(['last words']);
    expect(await connection.closing()).toMatchObject({ code: 4400 });
  });

  test('[wire 1.10] by the engine sends as much of the reason as a close frame can hold', async () => {
    await using port = await ContractPort.open(transport);
    for (const [reason, received] of [
      ['x'.repeat(123), 'x'.repeat(123)],
      ['x'.repeat(124), 'x'.repeat(123)],
      ['€'.repeat(41), '€'.repeat(41)],
      // Whole characters only.
      [`x${'€'.repeat(60)}`, `x${'€'.repeat(40)}`],
      [`xx${'😀'.repeat(60)}`, `xx${'😀'.repeat(30)}`],
    ] as const) {
      const { client, connection } = await port.connect();
      connection.socket.close(4400, reason);
      expect(await client.goodbye()).toEqual({ code: 4400, reason: received });
    }
  });

  test('[wire 1.10] by the engine reaches a slow reader after everything that was sent before', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.pause();
    for (let round = 0; round < 16; round++) connection.socket.sendBinary(Buffer.alloc(MIB, round));
    connection.socket.close(4408, 'too slow');
    expect(connection.closings).toEqual([{ code: 4408, isOverlong: false }]);
    client.socket.resume();
    expect(await client.goodbye()).toEqual({ code: 4408, reason: 'too slow' });
    expect(client.frames.length).toBe(17);
    for (const [round, { payload }] of client.frames.slice(0, 16).entries()) {
      expect(payload.equals(Buffer.alloc(MIB, round)), `message ${round}`).toBe(true);
    }
  });

  test('[wire 1.10] by the engine during a message callback suppresses the messages after it', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    connection.whenMessage = ({ bytes }) => {
      if (bytes.toString() === 'two') connection.socket.close(1001, 'enough');
    };
    const texts = ['one', 'two', 'three', 'four'];
    client.send(
      ...texts.map((text) => ({ opcode: OPCODE.text, payload: Buffer.from(text) })),
      { opcode: OPCODE.ping, payload: FRAME },
      closeFrame(4000),
    );
    expect(await client.goodbye()).toEqual({ code: 1001, reason: 'enough' });
    expect(connection.texts).toEqual(['one', 'two']);
    expect(connection.heardCount).toBe(0);
    expect(connection.closings).toEqual([{ code: 1001, isOverlong: false }]);
  });

  test.each(['close', 'terminate'] as const)(
    '[wire 1.10] by %s of the engine in the connection callback is reported right after it',
    async (verb) => {
      await using port = await ContractPort.open(transport, {
        whenConnected({ socket }) {
          if (verb === 'close') socket.close(4400, 'unwanted');
          else socket.terminate();
        },
      });
      const connected = port.connect();
      if (verb === 'close') {
        const { client, connection } = await connected;
        expect(await client.goodbye()).toEqual({ code: 4400, reason: 'unwanted' });
        expect(connection.closings).toEqual([ABNORMAL]);
      } else {
        // Whether the answer to the request is still sent is not promised.
        await connected.catch(() => {});
        expect(port.connections.map(({ closings }) => closings)).toEqual([[ABNORMAL]]);
      }
    },
  );

  test('[wire 1.10] without a close frame is reported at once, and the client sees a lost connection', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    connection.socket.terminate();
    expect(connection.closings).toEqual([ABNORMAL]);
    expectDead(connection);
    expect(await client.goodbye()).toBeUndefined();
    expect(client.frames).toEqual([]);
  });
}

function testPeersWord(transport: TransportUnderTest): void {
  test.each([
    { said: 1000, reason: '' },
    { said: 1001, reason: 'going away' },
    { said: 4000, reason: 'ü'.repeat(61) },
    // The client claims that the engine sent too much: it did not.
    { said: 1009, reason: '' },
    { said: undefined, reason: '' },
  ])('[wire 1.10] by the client ($said) is reported with its code and answered', async ({ said, reason }) => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.send({ opcode: OPCODE.text, payload: FRAME }, closeFrame(said, reason), {
      opcode: OPCODE.text,
      payload: FRAME,
    });
    expect(await connection.closing()).toEqual({ code: said ?? 1005, isOverlong: false });
    expectDead(connection);
    expect(await client.goodbye()).toMatchObject({ code: said ?? 1005 });
    expect(connection.messages.length).toBe(1);
  });

  test('[wire 1.10] by the client is reported while it keeps TCP open and reads nothing', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.pause();
    while (connection.socket.bufferedBytes < 4 * MIB) connection.socket.sendBinary(Buffer.alloc(MIB));
    client.send(closeFrame(1000));
    expect(await connection.closing()).toEqual({ code: 1000, isOverlong: false });
    expectDead(connection);
  });
}

function testLoss(transport: TransportUnderTest): void {
  test('[I4] by a reset of the client is reported', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    reset(client.socket);
    expect(await connection.closing()).toEqual(ABNORMAL);
    expectDead(connection);
  });

  const keepsLastWords = transport.cannot.keepLastWords === undefined;
  test('[I4] by the end of TCP without a close frame is reported, after all that came before it', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.sendText('last words');
    client.socket.end();
    expect(await connection.closing()).toEqual(ABNORMAL);
    expect(connection.texts).toEqual(keepsLastWords ? ['last words'] : []);
    expectDead(connection);
    await within(5_000, 'the engine ends TCP as well', client.ended);
  });

  test('[I4] in the middle of a message is reported, and the message is not', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.end(encodeFrame({ opcode: OPCODE.text, payload: FRAME }).subarray(0, 9));
    expect(await connection.closing()).toEqual(ABNORMAL);
    expect(connection.messages).toEqual([]);
  });

  test('[I4] by the end of TCP is reported although much of what was sent is unread', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.pause();
    while (connection.socket.bufferedBytes < 4 * MIB) connection.socket.sendBinary(Buffer.alloc(MIB));
    // Only this direction: the client's side stays, like that of a process that was stopped.
    client.socket.end();
    expect(await connection.closing()).toEqual(ABNORMAL);
    expectDead(connection);
  });
}

type Offence = readonly [name: string, code: number, frames: readonly BareFrame[]];

const OFFENCES: readonly Offence[] = [
  ['bad UTF-8 in text', 1007, [{ opcode: OPCODE.text, payload: Buffer.from([0x22, 0xff, 0x22]) }]],
  ['a surrogate in text', 1007, [{ opcode: OPCODE.text, payload: Buffer.from([0xed, 0xa0, 0x80]) }]],
  [
    'half a character at the end of the last fragment',
    1007,
    [
      { opcode: OPCODE.text, payload: FRAME, fin: false },
      { opcode: OPCODE.continuation, payload: Buffer.from([0xe2, 0x82]) },
    ],
  ],
  ['a compressed frame', 1002, [{ opcode: OPCODE.text, payload: FRAME, reserved: 4 }]],
  ['a reserved bit', 1002, [{ opcode: OPCODE.text, payload: FRAME, reserved: 1 }]],
  ['a reserved opcode', 1002, [{ opcode: 3, payload: FRAME }]],
  ['a reserved control opcode', 1002, [{ opcode: 11, payload: FRAME }]],
  ['a fragment of nothing', 1002, [{ opcode: OPCODE.continuation, payload: FRAME }]],
  [
    'a message inside another',
    1002,
    [
      { opcode: OPCODE.text, payload: FRAME, fin: false },
      { opcode: OPCODE.text, payload: FRAME },
    ],
  ],
  ['a ping in fragments', 1002, [{ opcode: OPCODE.ping, payload: FRAME, fin: false }]],
  ['a ping over 125 bytes', 1002, [{ opcode: OPCODE.ping, payload: Buffer.alloc(126) }]],
  ['half a close code', 1002, [{ opcode: OPCODE.close, payload: Buffer.from([3]) }]],
  ['a forbidden close code', 1002, [closeFrame(1005)]],
  ['bad UTF-8 in a close reason', 1007, [closeFrame(1000, Buffer.from([0xff]))]],
];

function testOffences(transport: TransportUnderTest): void {
  const { sayWhy, seeMissingMask } = transport.cannot;

  test.each(OFFENCES)('[fault 33] for %s is reported, and no part of it as a message', async (_name, code, frames) => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.send({ opcode: OPCODE.text, payload: FRAME }, ...frames, { opcode: OPCODE.text, payload: FRAME });
    const closing = await connection.closing();
    expect(connection.texts).toEqual([FRAME.toString()]);
    expectDead(connection);
    const goodbye = await client.goodbye();
    if (sayWhy === undefined) {
      expect(closing).toEqual({ code, isOverlong: false });
      expect(goodbye).toMatchObject({ code });
    } else {
      expect(closing.isOverlong).toBe(false);
    }
  });

  test('[fault 33] for a frame without a mask is reported as 1002', async ({ skip }) => {
    skip(seeMissingMask !== undefined, seeMissingMask);
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.send({ opcode: OPCODE.text, payload: FRAME, masked: false });
    expect(await connection.closing()).toEqual({ code: 1002, isOverlong: false });
    expect(await client.goodbye()).toMatchObject({ code: 1002 });
    expect(connection.messages).toEqual([]);
  });

  test('[fault 33] does not happen for invalid UTF-8 in a binary message', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.send({ opcode: OPCODE.binary, payload: Buffer.from([0xff, 0xc0, 0x80]) });
    await connection.hears(1);
    expect(connection.messages).toEqual([{ bytes: Buffer.from([0xff, 0xc0, 0x80]), isBinary: true }]);
    expect(connection.socket.isOpen).toBe(true);
  });
}
