// The responder part with Moleculer over TCP: its nodes talk directly, with no broker between them. The caller finds it
// through the address that this part reports as its own.

import { ServiceBroker } from 'moleculer';
import { freePort } from '../../test/support/free-port.ts';
import { answerReady } from '../support/part.ts';

const port = await freePort();
const broker = new ServiceBroker({
  nodeID: 'responder',
  logger: false,
  transporter: { type: 'TCP', options: { udpDiscovery: false, port, urls: [`127.0.0.1:${port}/responder`] } },
});
broker.createService({ name: 'bench', actions: { echo: (context: { params: unknown }) => context.params } });
await broker.start();
answerReady(async () => ({ url: String(port) }));
