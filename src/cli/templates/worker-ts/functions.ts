// The functions of this worker, apart from the connection, so that a test can register them on an engine of its own.

import type { SvcWorker } from 'svc-sdk';

export function register(svc: SvcWorker): void {
  svc.registerFunction(
    { id: '__name__::hello', description: 'Greets by name' },
    ({ name = 'world' }: { name?: string }) => ({
      text: `Hello, ${name}!`,
    }),
  );
}
