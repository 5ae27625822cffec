import { test } from 'vitest';
import { loadUws } from '../../../src/transport/uws/uws-library.ts';
import { createUwsTransport } from '../../../src/transport/uws/uws-transport.ts';
import { testTransport } from './transport-contract.ts';
import { UWS_CANNOT } from './uws-differences.ts';

const uws = loadUws();

/** The platforms with a binary: on any other this file has nothing to test. */
const isExpected = process.platform === 'linux' && process.arch === 'x64';

if (!(uws instanceof Error)) {
  testTransport({
    name: 'uWebSockets.js',
    create: (clock) => createUwsTransport(uws, clock),
    cannot: UWS_CANNOT,
  });
} else if (isExpected) {
  throw uws;
} else {
  test.skip(`[PD-20] uWebSockets.js cannot be loaded here: ${uws.message}`);
}
