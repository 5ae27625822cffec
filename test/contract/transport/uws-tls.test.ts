import { afterAll, expect, test } from 'vitest';
import type { Clock } from '../../../src/effects/clock.ts';
import type { TlsOptions } from '../../../src/transport/tls.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { loadUws } from '../../../src/transport/uws/uws-library.ts';
import { createUwsTransport } from '../../../src/transport/uws/uws-transport.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { speakTls, tlsWith } from './dialling.ts';
import { testHttpTransport } from './http-contract.ts';
import { HttpPortUnderTest } from './http-port.ts';
import { handshake, testTls } from './tls-contract.ts';
import { testTransport } from './transport-contract.ts';
import { testUnreadAnswers } from './unread-answers.ts';
import { UWS_WITH_TLS_CANNOT } from './uws-differences.ts';

const uws = loadUws();

if (uws instanceof Error) {
  test.skip(`[PD-20] uWebSockets.js cannot be loaded here: ${uws.message}`);
} else {
  afterAll(speakTls());
  const create = (clock: Clock) => createUwsTransport(uws, clock);
  const transport = { name: 'uWebSockets.js with TLS', create, cannot: UWS_WITH_TLS_CANNOT };
  testTransport(transport);
  testTls(transport);
  testHttpTransport({ name: 'uWebSockets.js with TLS', create, toleratedRequests: {} });
  testUnreadAnswers({ name: 'uWebSockets.js with TLS', create });

  test('what the library cannot keep is an error that names it, and the transport that can', async () => {
    using authority = new TestAuthority();
    const usual = tlsWith(authority.issue());
    const open = (tls: TlsOptions) => HttpPortUnderTest.open((clock) => withTls(create(clock), tls));
    const clients = { authorities: usual.certificate.chain, isRequired: true };
    await expect(open({ ...usual, minVersion: 'TLSv1.3' })).rejects.toThrow(
      'min_version TLSv1.3: uWebSockets.js always accepts TLSv1.2 as well. The transport ws can: set SVC_TRANSPORT=ws',
    );
    await expect(open({ ...usual, clients })).rejects.toThrow(
      'client_certificates: uWebSockets.js cannot report them. The transport ws can: set SVC_TRANSPORT=ws',
    );
  });

  test('a port that was given as 0 can be opened again', async () => {
    using authority = new TestAuthority();
    await using port = await HttpPortUnderTest.open(create);
    const socket = await port.dial();
    port.listener.prepareTls(tlsWith(authority.issue()))();
    using _other = await handshake(port.port, authority);
    expect(socket.hasEnded).toBe(false);
    socket.destroy();
  });
}

function withTls(transport: Transport, tls: TlsOptions): Transport {
  return { ...transport, serve: (options) => transport.serve({ ...options, tls }) };
}
