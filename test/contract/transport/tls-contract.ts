// Contract of the transport with TLS: handshakes, and the replacement of a certificate.

import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { connectionOptions } from '../../../src/sdk/internal.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { within } from '../../support/wait-for.ts';
import { ContractPort, type TransportUnderTest } from './contract-port.ts';
import { tlsWith } from './dialling.ts';
import { upgradeRequest } from './frame-client.ts';
import { HttpPortUnderTest } from './http-port.ts';

export function testTls(transport: TransportUnderTest): void {
  test('[X26] another certificate is for new connections, by address without a server name, and open ones stay', async () => {
    using other = new TestAuthority();
    await using port = await ContractPort.open(transport);
    const { client, connection } = await port.connect();
    const replace = port.listener.prepareTls(tlsWith(other.issue({ subject: 'the other' })));
    client.sendText('before');
    replace();
    using replaced = await handshake(port.port, other);
    expect(replaced.getPeerCertificate().subject.CN).toBe('the other');
    client.sendText('after');
    connection.socket.sendBinary(Buffer.from('answer'));
    expect((await client.next()).payload.toString()).toBe('answer');
    expect(connection.texts).toEqual(['before', 'after']);
  });

  test('a certificate is replaced many times, and each time a request is answered', async () => {
    using other = new TestAuthority();
    await using port = await HttpPortUnderTest.open((clock) => transport.create(clock));
    for (let round = 0; round < 20; round++) {
      const subject = `number ${round}`;
      port.listener.prepareTls(tlsWith(other.issue({ subject })))();
      using socket = await handshake(port.port, other);
      expect(socket.getPeerCertificate().subject.CN).toBe(subject);
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  test('a port that accepts no more does not accept again with another certificate', async () => {
    using other = new TestAuthority();
    await using port = await ContractPort.open(transport);
    const replace = port.listener.prepareTls(tlsWith(other.issue()));
    port.listener.stopAccepting();
    replace();
    await expect(handshake(port.port, other)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('a certificate that cannot be used is an error, and the port keeps its own', async () => {
    using other = new TestAuthority();
    await using port = await ContractPort.open(transport);
    const { certificate, ...rest } = tlsWith(other.issue());
    const mixed = { ...certificate, keyFile: other.issue().keyFile, key: tlsWith(other.issue()).certificate.key };
    expect(() => port.listener.prepareTls({ ...rest, certificate: mixed })).toThrow(certificate.certFile);
    expect((await port.connect()).client.status).toBe(101);
  });

  test('[X25] a version below TLSv1.2 is refused', async () => {
    using other = new TestAuthority();
    await using port = await ContractPort.open(transport);
    port.listener.prepareTls(tlsWith(other.issue()))();
    const old: ConnectionOptions = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(handshake(port.port, other, old)).rejects.toThrow(/protocol version/i);
    using socket = await handshake(port.port, other, { maxVersion: 'TLSv1.2' });
    expect(socket.getProtocol()).toBe('TLSv1.2');
  });

  test('[X25] a request without TLS gets no answer', async () => {
    await using port = await ContractPort.open(transport);
    const socket = connectPlain(port.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(upgradeRequest());
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    await within(5_000, 'the connection ends', once(socket, 'close'));
    expect(received).not.toContain('HTTP/');
    expect(port.connections).toEqual([]);
  });
}

/** By address, without a server name. */
export async function handshake(
  port: number,
  authority: TestAuthority,
  options: ConnectionOptions = {},
): Promise<TLSSocket & Disposable> {
  const trust = connectionOptions({ ca_file: authority.caFile });
  const socket = connect({ port, host: '127.0.0.1', ...trust, ...options });
  await once(socket, 'secureConnect');
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}
