import { createWsTransport } from '../../src/transport/ws-transport.ts';
import { testTransport } from './transport-contract.ts';

testTransport({ name: 'ws', create: createWsTransport, cannot: {} });
