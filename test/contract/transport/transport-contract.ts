// The behaviour that the engine relies on in a transport, with any library (PD-20). Each implementation has a file of a
// few lines that runs all of it, and lists what that library does not support, with the reason.

import { describe } from 'vitest';
import { testClosing } from './closing.ts';
import type { TransportUnderTest } from './contract-port.ts';
import { testLimits } from './limits.ts';
import { testListening } from './listening.ts';
import { testMessages } from './messages.ts';
import { testRequests } from './requests.ts';
import { testSending } from './sending.ts';
import { testVerdicts } from './verdicts.ts';

export function testTransport(transport: TransportUnderTest): void {
  describe(`the transport on ${transport.name}`, () => {
    describe('a request', () => testRequests(transport));
    describe('a request that waits for a verdict', () => testVerdicts(transport));
    describe('a message from the client', () => testMessages(transport));
    describe('what is sent', () => testSending(transport));
    describe('the end of a connection', () => testClosing(transport));
    describe('a limit', () => testLimits(transport));
    describe('a port', () => testListening(transport));
  });
}
