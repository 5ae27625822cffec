// The caller part with Moleculer over TCP.

import { ServiceBroker } from 'moleculer';
import { answerReady, answerRuns } from '../support/part.ts';

const broker = new ServiceBroker({
  nodeID: 'caller',
  logger: false,
  requestTimeout: 30_000,
  transporter: {
    type: 'TCP',
    options: { udpDiscovery: false, urls: [`127.0.0.1:${process.argv[2]}/responder`] },
  },
});
await broker.start();
answerReady(async () => {
  await broker.waitForServices('bench', 20_000);
  return {};
});
answerRuns((payload, done) => {
  broker.call('bench.echo', payload).then(done, (error: unknown) => {
    throw error;
  });
});
