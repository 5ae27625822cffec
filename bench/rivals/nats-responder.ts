// The responder part with NATS' official client, JSON decoded and encoded as an application would.

import { connect } from '@nats-io/transport-node';
import { answerReady } from '../support/part.ts';

const connection = await connect({ servers: process.argv[2] ?? '', noAsyncTraces: true });
connection.subscribe('bench.echo', {
  callback(_error, message) {
    message.respond(JSON.stringify(message.json()));
  },
});
await connection.flush();
answerReady(async () => ({}));
