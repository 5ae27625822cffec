import { createWsTransport } from '../../../src/transport/node/ws-transport.ts';
import { testTransport } from './transport-contract.ts';

testTransport({ name: 'ws', create: createWsTransport, cannot: {} });
