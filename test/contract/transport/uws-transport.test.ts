import { test } from 'vitest';
import { loadUws } from '../../../src/transport/uws/uws-library.ts';
import { createUwsTransport } from '../../../src/transport/uws/uws-transport.ts';
import { testTransport } from './transport-contract.ts';

const uws = loadUws();

/** The platforms with a binary: on any other this file has nothing to test. */
const isExpected = process.platform === 'linux' && process.arch === 'x64';

if (!(uws instanceof Error)) {
  testTransport({
    name: 'uWebSockets.js',
    create: (clock) => createUwsTransport(uws, clock),
    cannot: {
      sayWhy: 'the library ends a connection that broke a rule without a close frame',
      seeMissingMask: 'the library takes the next four bytes for the mask, whether there is one or not',
      boundFragments: 'the library reports a message when it is complete; its size is the only bound (PD-28)',
      keepEarlyFrames: 'the library forgets what follows the upgrade request in the same piece',
      boundUpgradeTime: 'the library has its own limit of about 10 s for a request, counted from its last byte',
      readAllUpgradeHeaders: 'the library checks the method and the key only',
      answerGarbage: 'the library waits for the rest of a request that will never be one, about 10 s',
    },
  });
} else if (isExpected) {
  throw uws;
} else {
  test.skip(`[PD-20] uWebSockets.js cannot be loaded here: ${uws.message}`);
}
