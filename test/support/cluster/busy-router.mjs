// Loaded into every thread of an engine: the further routers are blocked most of the time.

import { isMainThread, workerData } from 'node:worker_threads';

const BLOCKED_MS = 400;
const FREE_MS = 50;

if (!isMainThread && workerData?.homeId !== undefined) {
  setInterval(() => {
    const endMs = performance.now() + BLOCKED_MS;
    while (performance.now() < endMs);
  }, FREE_MS);
}
