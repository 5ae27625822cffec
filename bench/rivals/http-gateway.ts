// The usual gateway hop: Fastify takes the request, NATS carries it to the process that answers.

import { connect } from '@nats-io/transport-node';
import fastify from 'fastify';
import { answerReady } from '../support/part.ts';

const connection = await connect({ servers: process.argv[2] ?? '', noAsyncTraces: true });
const app = fastify({ logger: false });
app.get('/hello', async (request) => {
  const { params, query, headers, method } = request;
  const asked = JSON.stringify({ method, params, query, headers });
  const answer = await connection.request('api.hello', asked, { timeout: 30_000, noMux: false });
  return answer.json();
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
answerReady(async () => ({ url }));
