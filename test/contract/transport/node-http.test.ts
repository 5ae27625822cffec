import { createWsTransport } from '../../../src/transport/node/ws-transport.ts';
import { testHttpTransport } from './http-contract.ts';
import { testUnreadAnswers } from './unread-answers.ts';

testHttpTransport({ name: 'node:http', create: createWsTransport, toleratedRequests: {} });
testUnreadAnswers({ name: 'node:http', create: createWsTransport });
