import { createWsTransport } from '../../../src/transport/node/ws-transport.ts';
import { testHttpTransport } from './http-contract.ts';

testHttpTransport({ name: 'node:http', create: createWsTransport, toleratedRequests: {} });
