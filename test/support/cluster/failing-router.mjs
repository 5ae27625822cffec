// Loaded into every thread of an engine: the router thread fails when the process gets SIGUSR2.

import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads';

const fail = new BroadcastChannel('svc-test-fail');
fail.unref();

if (isMainThread) process.on('SIGUSR2', () => fail.postMessage('now'));
else if (workerData?.homeId !== undefined) {
  fail.onmessage = () => {
    throw new Error('the test ends this router');
  };
}
