// Contract of the transport: sizes, counts and times (guarantees 4).

import { expect, test } from 'vitest';
import { type BareFrame, encodeFrame } from '../../support/clients/bare-socket.ts';
import { waitFor, within } from '../../support/wait-for.ts';
import { ContractPort, type TransportUnderTest } from './contract-port.ts';
import { FrameClient, OPCODE, upgradeRequest } from './frame-client.ts';

const MESSAGE_BYTES_MAX = 1_000;
const OVERLONG = { code: 1009, reason: `the limit of a message is ${MESSAGE_BYTES_MAX} bytes` };
const FRAGMENTS_MAX = 1_024;
const LETTER = Buffer.from('x');

export function testLimits(transport: TransportUnderTest): void {
  testMessageSize(transport);
  testFragments(transport);
  testUpgradeTime(transport);
}

function inFragments(count: number, payload = LETTER): BareFrame[] {
  return Array.from({ length: count }, (_, index) => ({
    opcode: index === 0 ? OPCODE.text : OPCODE.continuation,
    payload,
    fin: index === count - 1,
  }));
}

function testMessageSize(transport: TransportUnderTest): void {
  test.each<readonly [form: string, frames: readonly BareFrame[]]>([
    ['one frame', [{ opcode: OPCODE.binary, payload: Buffer.alloc(MESSAGE_BYTES_MAX + 1) }]],
    ['fragments', inFragments(11, Buffer.alloc(100, 'x'))],
    ['fragments that never end', inFragments(12, Buffer.alloc(100, 'x')).slice(0, 11)],
  ])('[wire 1.5] of the size of a message counts for %s, and closes with 1009', async (_form, frames) => {
    await using port = await ContractPort.open(transport, { frameBytesMax: MESSAGE_BYTES_MAX });
    const { client, connection } = await port.connect();
    // The other library checks the size when the message is complete, or beyond twice the limit.
    const isEnded = frames.some(({ fin = true }) => fin);
    if (isEnded || transport.cannot.sayWhy === undefined) {
      client.send(...frames);
      expect(await connection.closing()).toEqual({ code: 1009, isOverlong: true });
      expect(await client.goodbye()).toEqual(OVERLONG);
    } else {
      client.send(...frames, ...inFragments(12, Buffer.alloc(100)).slice(1, -1));
      expect((await connection.closing()).isOverlong).toBe(true);
    }
    expect(connection.messages).toEqual([]);
    expect(connection.socket.isOpen).toBe(false);
  });

  test('[wire 1.5] of the size of a message admits one of exactly that size', async () => {
    await using port = await ContractPort.open(transport, { frameBytesMax: MESSAGE_BYTES_MAX });
    const { client, connection } = await port.connect();
    client.send({ opcode: OPCODE.text, payload: Buffer.alloc(MESSAGE_BYTES_MAX, 'x') });
    client.send(...inFragments(10, Buffer.alloc(MESSAGE_BYTES_MAX / 10, 'x')));
    await connection.hears(2);
    expect(connection.messages.map(({ bytes }) => bytes.length)).toEqual([MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX]);
    expect(connection.closings).toEqual([]);
  });

  test.each([2 ** 24, 2 ** 32 - 1, 2n ** 53n, 2n ** 63n - 1n])(
    '[fault 33] of the size of a message acts on a header of %d bytes, before they arrive',
    async (claimedLength) => {
      await using port = await ContractPort.open(transport, { frameBytesMax: MESSAGE_BYTES_MAX });
      const { client, connection } = await port.connect();
      client.send({ opcode: OPCODE.binary, payload: LETTER, claimedLength });
      expect((await connection.closing()).isOverlong).toBe(true);
      const goodbye = await client.goodbye();
      if (transport.cannot.sayWhy === undefined) expect(goodbye).toEqual(OVERLONG);
    },
  );

  test('[wire 1.5] of the size of a message is reported to a client that is still sending', async ({ skip }) => {
    const { sayWhy } = transport.cannot;
    skip(sayWhy !== undefined, sayWhy);
    await using port = await ContractPort.open(transport, { frameBytesMax: MESSAGE_BYTES_MAX });
    const { client } = await port.connect();
    client.send({ opcode: OPCODE.binary, payload: Buffer.alloc(32 * 1024 * 1024) });
    expect(await client.goodbye()).toEqual(OVERLONG);
  });
}

function testFragments(transport: TransportUnderTest): void {
  const { boundFragments } = transport.cannot;

  test('[guarantees 4] of the fragments of a message is 1 024', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    for (const count of [FRAGMENTS_MAX, FRAGMENTS_MAX]) client.send(...inFragments(count));
    await connection.hears(2);
    client.send(...inFragments(FRAGMENTS_MAX + 1));
    if (boundFragments === undefined) {
      expect(await connection.closing()).toEqual({ code: 1008, isOverlong: false });
      const reason = `a message has more than ${FRAGMENTS_MAX} fragments`;
      expect(await client.goodbye()).toEqual({ code: 1008, reason });
    } else {
      await connection.hears(3);
    }
    const whole = [FRAGMENTS_MAX, FRAGMENTS_MAX, ...(boundFragments === undefined ? [] : [FRAGMENTS_MAX + 1])];
    expect(connection.messages.map(({ bytes }) => bytes.length)).toEqual(whole);
  });

  test.each([
    [
      'fragments',
      Buffer.concat(
        inFragments(2)
          .slice(0, 1)
          .map((frame) => encodeFrame(frame)),
      ),
    ],
    ['one frame', encodeFrame({ opcode: OPCODE.text, payload: Buffer.alloc(100) }).subarray(0, 50)],
    ['a header', encodeFrame({ opcode: OPCODE.text, payload: Buffer.alloc(1_000) }).subarray(0, 3)],
  ])('[guarantees 4] of the time for a message is 30 s, wherever it stops: %s', async (_part, bytes) => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    client.socket.write(Buffer.concat([encodeFrame({ opcode: OPCODE.text, payload: LETTER }), bytes]));
    await connection.hears(1);
    await using other = await port.connect().then(({ client: settled }) => settled);
    port.clock.advance(29_000);
    expect(connection.closings).toEqual([]);
    port.clock.advance(2_000);
    if (boundFragments !== undefined) {
      expect(connection.socket.isOpen).toBe(true);
      return;
    }
    expect(connection.closings).toEqual([{ code: 1008, isOverlong: false }]);
    const reason = 'a message must be complete within 30 s';
    expect(await client.goodbye()).toEqual({ code: 1008, reason });
    // A connection may be silent without a limit: the transport does not check liveness.
    expect(other.frames).toEqual([]);
    expect(port.connections.at(-1)?.socket.isOpen).toBe(true);
  });

  test('[guarantees 4] of the time for a message restarts with each message, and pings do not extend it', async () => {
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const whole = encodeFrame({ opcode: OPCODE.text, payload: Buffer.alloc(100) });
    client.socket.write(whole.subarray(0, 40));
    for (let count = 1; count <= 6; count++) {
      // The end of one and the beginning of the next in one piece.
      client.socket.write(Buffer.concat([whole.subarray(40), whole.subarray(0, 40)]));
      await connection.hears(count);
      port.clock.advance(20_000);
    }
    expect(connection.closings).toEqual([]);
    client.socket.write(whole.subarray(40));
    client.send({ opcode: OPCODE.text, payload: LETTER, fin: false });
    for (let pings = 1; pings <= 4; pings++) {
      client.send({ opcode: OPCODE.ping, payload: LETTER });
      await waitFor('the ping is reported', () => connection.heardCount === pings || !connection.socket.isOpen);
      port.clock.advance(10_000);
    }
    expect(connection.socket.isOpen).toBe(boundFragments !== undefined);
  });
}

function testUpgradeTime(transport: TransportUnderTest): void {
  test('[guarantees 4] of the time for a request is 5 s, for a silent client and for half a request', {
    timeout: 30_000,
  }, async () => {
    await using port = await ContractPort.open(transport);
    const clients = [await FrameClient.dial(port.port), await FrameClient.dial(port.port)];
    clients[1]?.socket.write(upgradeRequest().slice(0, 60));
    const { connection } = await port.connect();
    port.clock.advance(4_500);
    expect(clients.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    port.clock.advance(1_500);
    // The other library uses its own clock.
    for (const { ended } of clients) await within(20_000, 'the connection is cut', ended);
    expect(clients.map(({ head }) => head)).toEqual(['', '']);
    expect(port.connections).toEqual([connection]);
    expect(connection.socket.isOpen).toBe(true);
  });

  test('[guarantees 4] of the time for a request does not restart with each byte', async ({ skip }) => {
    const { boundUpgradeTime } = transport.cannot;
    skip(boundUpgradeTime !== undefined, boundUpgradeTime);
    await using port = await ContractPort.open(transport);
    await using client = await FrameClient.dial(port.port);
    for (const byte of upgradeRequest().slice(0, 6)) {
      client.socket.write(byte);
      await port.connect();
      port.clock.advance(1_000);
    }
    await within(5_000, 'the connection is cut', client.ended);
  });

  test('[guarantees 4] of the time for a request holds for a refused client that stays', async ({ skip }) => {
    const { boundUpgradeTime } = transport.cannot;
    skip(boundUpgradeTime !== undefined, boundUpgradeTime);
    await using port = await ContractPort.open(transport, { admit: () => ({ ok: false, status: 403, text: 'no' }) });
    await using client = await FrameClient.dial(port.port);
    client.socket.pause();
    client.socket.write(upgradeRequest());
    await using other = await FrameClient.dial(port.port);
    other.socket.write(upgradeRequest());
    await other.answered();
    port.clock.advance(6_000);
    client.socket.resume();
    await within(5_000, 'the connection is cut', client.ended);
    expect(client.status).toBe(403);
  });
}
