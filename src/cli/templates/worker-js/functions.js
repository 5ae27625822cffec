// The functions of this worker, apart from the connection, so that a test can register them on an engine of its own.

/** @param {import('svc-sdk').SvcWorker} svc */
export function register(svc) {
  svc.registerFunction({ id: '__name__::hello', description: 'Greets by name' }, ({ name = 'world' }) => ({
    text: `Hello, ${name}!`,
  }));
}
