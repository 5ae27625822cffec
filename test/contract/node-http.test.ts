import { createWsTransport } from '../../src/transport/ws-transport.ts';
import { testHttpTransport } from './http-contract.ts';

testHttpTransport({ name: 'node:http', create: createWsTransport, toleratedRequests: {} });
