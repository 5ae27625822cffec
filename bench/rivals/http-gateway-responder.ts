// The responder of the gateway: answers the messages of NATS.

import { connect } from '@nats-io/transport-node';
import { answerReady, HELLO } from '../support/part.ts';

const connection = await connect({ servers: process.argv[2] ?? '', noAsyncTraces: true });
connection.subscribe('api.hello', {
  callback(_error, message) {
    // The request is read, as a handler would.
    message.json();
    message.respond(JSON.stringify(HELLO));
  },
});
await connection.flush();
answerReady(async () => ({}));
