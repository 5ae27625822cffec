// The tests of a file on both transports: on uWebSockets.js and on `ws`.

import { afterEach, beforeEach, describe, vi } from 'vitest';

export type TransportName = 'uws' | 'ws';

/** The engines that the tests start in this process use the transport. */
export function onBothTransports(what: string, tests: (transport: TransportName) => void): void {
  describe.each<TransportName>(['uws', 'ws'])(`${what} on %s`, (transport) => {
    beforeEach(() => {
      vi.stubEnv('SVC_TRANSPORT', transport);
    });
    afterEach(() => {
      vi.unstubAllEnvs();
    });
    tests(transport);
  });
}
