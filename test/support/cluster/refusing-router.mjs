// Loaded into every thread of an engine with the transport `ws`: the last of its three routers cannot listen on the
// port of SVC_TEST_REFUSED_PORT.

import { Server } from 'node:net';
import { isMainThread, workerData } from 'node:worker_threads';

const refused = Number(process.env.SVC_TEST_REFUSED_PORT);

if (!isMainThread && workerData?.index === 2) {
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...parts) {
    const asked = parts[0]?.port ?? parts[0];
    if (Number(asked) !== refused) return listen.apply(this, parts);
    process.nextTick(() => this.emit('error', Object.assign(new Error('in use'), { code: 'EADDRINUSE' })));
    return this;
  };
}
