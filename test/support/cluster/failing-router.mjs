// Loaded into every thread of an engine: the router thread fails a second after it began.

import { isMainThread, workerData } from 'node:worker_threads';

const FAIL_AFTER_MS = 1_000;

if (!isMainThread && workerData?.homeId !== undefined) {
  setTimeout(() => {
    throw new Error('the test ends this router');
  }, FAIL_AFTER_MS);
}
