// The responder of the gateway: answers the messages of NATS.

import { connect } from '@nats-io/transport-node';
import { answerReady } from '../support/part.ts';

const connection = await connect({ servers: process.argv[2] ?? '', noAsyncTraces: true });
connection.subscribe('users.get', {
  callback(_error, message) {
    const { params } = Object(message.json());
    message.respond(JSON.stringify({ id: params.id, name: 'Ada' }));
  },
});
await connection.flush();
answerReady(async () => ({}));
