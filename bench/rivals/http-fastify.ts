// Fastify as a single process: no hop, the handler runs in the server.

import fastify from 'fastify';
import { answerReady, HELLO } from '../support/part.ts';

const app = fastify({ logger: false });
app.get('/hello', () => HELLO);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
answerReady(async () => ({ url }));
