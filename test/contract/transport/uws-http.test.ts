import { test } from 'vitest';
import { loadUws } from '../../../src/transport/uws/uws-library.ts';
import { createUwsTransport } from '../../../src/transport/uws/uws-transport.ts';
import { testHttpTransport } from './http-contract.ts';

const uws = loadUws();

if (uws instanceof Error) {
  test.skip(`[PD-20] uWebSockets.js cannot be loaded here: ${uws.message}`);
} else {
  const closes = 'a connection that brought a chunked body ends with the answer: no later byte is read';
  testHttpTransport({
    name: 'uWebSockets.js',
    create: (clock) => createUwsTransport(uws, clock),
    toleratedRequests: {
      'a chunk that is longer than it says': closes,
      'chunks that end with a bare LF': closes,
      'a chunk extension with a bare LF': closes,
      'a header without a name': 'the library leaves it out, and it cannot say where a request ends',
    },
  });
}
