// The caller part with NATS' official client at its fastest setting (`noAsyncTraces`).

import { connect } from '@nats-io/transport-node';
import { answerReady, answerRuns } from '../support/part.ts';

const connection = await connect({ servers: process.argv[2] ?? '', noAsyncTraces: true });
answerReady(async () => ({}));
answerRuns((payload, done) => {
  connection.request('bench.echo', JSON.stringify(payload), { timeout: 30_000, noMux: false }).then(
    (message) => {
      message.json();
      done();
    },
    (error: unknown) => {
      throw error;
    },
  );
});
