import { testSlowPeers } from './http-slow.ts';

testSlowPeers('uws');
