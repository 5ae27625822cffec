// Contract of the transport: ports, and what remains after they close.

import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { ListenError } from '../../../src/transport/transport.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor, within } from '../../support/wait-for.ts';
import { type BothEnds, ContractPort, type TransportUnderTest } from './contract-port.ts';
import { reset } from './dialling.ts';
import { closeFrame, FrameClient, OPCODE, upgradeRequest } from './frame-client.ts';

export function testListening(transport: TransportUnderTest): void {
  testOpening(transport);
  testStopping(transport);
  testLeftovers(transport);
}

function testOpening(transport: TransportUnderTest): void {
  test('[K1] of number 0 is any free one, each time another, and reports its number', async () => {
    await using first = await ContractPort.open(transport);
    await using second = await ContractPort.open(transport);
    expect(first.listener.host).toBe('127.0.0.1');
    expect(first.port).toBeGreaterThan(1_023);
    expect(second.port).not.toBe(first.port);
    const connection = await first.connect();
    expect(connection.client.status).toBe(101);
    expect([first.connections.length, second.connections.length]).toEqual([1, 0]);
  });

  test('[K1] that is in use is an error that names it, and the holder does not notice', async () => {
    await using holder = await ContractPort.open(transport);
    const { port } = holder;
    const second = ContractPort.open(transport, { port });
    await expect(second).rejects.toBeInstanceOf(ListenError);
    await expect(second).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: the port is in use`);
    await expect(ContractPort.open(transport, { port, host: '0.0.0.0' })).rejects.toBeInstanceOf(ListenError);
    for (let round = 0; round < 10; round++) await holder.connect();
  });

  test('[K1] of another program, or on an address of another machine, is an error', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expect(ContractPort.open(transport, { port: port ?? 0 })).rejects.toBeInstanceOf(ListenError);
    server.close();
    await expect(ContractPort.open(transport, { host: '203.0.113.1' })).rejects.toBeInstanceOf(ListenError);
  });

  test('[X1] on one address is not on another', async () => {
    await using port = await ContractPort.open(transport, { host: '127.0.0.1' });
    await expect(FrameClient.dial(port.port, '127.0.0.2')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(FrameClient.dial(port.port, '::1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
}

function testStopping(transport: TransportUnderTest): void {
  test('[G1] that accepts no more keeps its open connections and frees its number', async () => {
    const number = await freePort();
    await using port = await ContractPort.open(transport, { port: number });
    const { client, connection } = await port.connect();
    port.listener.stopAccepting();
    port.listener.stopAccepting();
    await expect(FrameClient.dial(number)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(port.port).toBe(number);
    client.sendText('still here');
    await connection.hears(1);
    connection.socket.sendBinary(Buffer.from('so are we'));
    expect((await client.next()).payload.toString()).toBe('so are we');
    await using successor = await ContractPort.open(transport, { port: number });
    await successor.connect();
    expect([port.connections.length, successor.connections.length]).toEqual([1, 1]);
  });

  test('[G1] that accepts no more still answers requests that have already connected', async () => {
    let admitted = 0;
    await using port = await ContractPort.open(transport, {
      admit: () => {
        admitted += 1;
        return admitted === 1 ? { ok: true, subprotocol: undefined } : { ok: false, status: 503, text: 'stopping' };
      },
    });
    await using silent = await FrameClient.dial(port.port);
    await using speaking = await FrameClient.dial(port.port);
    speaking.socket.write(upgradeRequest().slice(0, 40));
    // By the time a later one is connected, both have been accepted.
    await port.connect();
    port.listener.stopAccepting();
    silent.socket.write(upgradeRequest());
    speaking.socket.write(upgradeRequest().slice(40));
    await Promise.all([silent.answered(), speaking.answered()]);
    expect([silent.status, speaking.status]).toEqual([503, 503]);
    expect(silent.body).toBe('stopping');
  });

  test('[G1] that closes ends all remaining connections, and reports it', async () => {
    await using port = await ContractPort.open(transport, { port: await freePort() });
    const { client: open, connection } = await port.connect();
    const { client: parting, connection: parted } = await port.connect();
    parted.socket.close(1001, 'going');
    await using stranger = await FrameClient.dial(port.port);
    await using last = (await port.connect()).client;
    port.listener.close();
    port.listener.close();
    expect(connection.closings).toEqual([{ code: 1006, isOverlong: false }]);
    expect(parted.closings).toEqual([{ code: 1001, isOverlong: false }]);
    for (const client of [open, parting, stranger, last]) await within(5_000, 'it is ended', client.ended);
    await using successor = await ContractPort.open(transport, { port: port.port });
    await successor.connect();
    expect(port.clock.timerCount).toBe(0);
  });

  test('[G1] that closes delivers the close frames sent just before', async () => {
    const port = await ContractPort.open(transport);
    const ends = await port.connectMany(20);
    for (const { connection } of ends) connection.socket.close(1001, 'the engine is shutting down');
    port.listener.close();
    for (const { client } of ends) {
      expect(await client.goodbye()).toEqual({ code: 1001, reason: 'the engine is shutting down' });
    }
  });

  test('[K1] that could not be opened leaves no socket open', async () => {
    await using holder = await ContractPort.open(transport);
    const before = openSockets();
    for (let round = 0; round < 20; round++) {
      await ContractPort.open(transport, { port: holder.port }).catch(() => {});
    }
    await waitFor('no socket is left', () => openSockets() <= before);
  });
}

function testLeftovers(transport: TransportUnderTest): void {
  test('[R6] keeps nothing of connections that ended in any way', { timeout: 60_000 }, async () => {
    await using port = await ContractPort.open(transport);
    await port.connect();
    const before = openSockets();
    const ends: readonly ((made: BothEnds) => unknown)[] = [
      ({ client }) => client.socket.end(),
      ({ client }) => reset(client.socket),
      ({ client }) => client.send(closeFrame(1000)),
      ({ client }) => client.send({ opcode: OPCODE.text, payload: Buffer.from([0xff]) }),
      ({ connection, client }) => {
        connection.socket.close(1001, 'going');
        return client.goodbye();
      },
      ({ connection }) => connection.socket.terminate(),
    ];
    for (let round = 0; round < 20; round++) {
      const made = await port.connectMany(5 * ends.length);
      await Promise.all(made.map((one, index) => ends[index % ends.length]?.(one)));
      for (const { client } of made) await client[Symbol.asyncDispose]();
    }
    const strangers = await Promise.all(Array.from({ length: 50 }, () => FrameClient.dial(port.port)));
    for (const [index, stranger] of strangers.entries()) {
      if (index % 2 === 0) stranger.socket.write('GET / HTTP/1.1\r\n');
      await stranger[Symbol.asyncDispose]();
    }
    await waitFor('every end is reported', () =>
      port.connections.slice(1).every(({ closings }) => closings.length > 0),
    );
    expect(port.connections.slice(1).every(({ closings }) => closings.length === 1)).toBe(true);
    expect(port.connections[0]?.socket.isOpen).toBe(true);
    await waitFor('no socket is left', () => openSockets() <= before);
  });
}

/** Open files of this process: files that a library forgot to close are among them. Only Linux lists them. */
function openSockets(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
}
