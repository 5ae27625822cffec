import { afterAll, expect, test } from 'vitest';
import { createWsTransport } from '../../../src/transport/node/ws-transport.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { ContractPort } from './contract-port.ts';
import { speakTls, tlsWith } from './dialling.ts';
import { testHttpTransport } from './http-contract.ts';
import { handshake, testTls } from './tls-contract.ts';
import { testTransport } from './transport-contract.ts';
import { testUnreadAnswers } from './unread-answers.ts';

afterAll(speakTls());
const transport = { name: 'ws with TLS', create: createWsTransport, cannot: {} };
testTransport(transport);
testTls(transport);
testHttpTransport({ name: 'node:http with TLS', create: createWsTransport, toleratedRequests: {} });
// TLS decrypts all that it has read, up to 64 KiB, before a pause takes effect. The limit of bytes applies all the same.
testUnreadAnswers({ name: 'node:http with TLS', create: createWsTransport, handledMax: 1_300 });

test('min_version TLSv1.3 refuses TLSv1.2', async () => {
  using authority = new TestAuthority();
  await using port = await ContractPort.open(transport);
  port.listener.prepareTls({ ...tlsWith(authority.issue()), minVersion: 'TLSv1.3' })();
  await expect(handshake(port.port, authority, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/i);
  using socket = await handshake(port.port, authority);
  expect(socket.getProtocol()).toBe('TLSv1.3');
});
