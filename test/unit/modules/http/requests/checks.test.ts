import { expect, test } from 'vitest';
import { type Checks, runChecks } from '../../../../../src/modules/http/requests/checks.ts';
import { asByteString } from '../../../../../src/protocol/json/byte-string.ts';
import { EngineInMemory } from '../../../../support/engine/engine-in-memory.ts';

const CHECKS: Omit<Checks, 'globalMiddleware' | 'routeMiddleware'> = {
  text: asByteString('{"method":"GET"'),
  body: asByteString('null'),
  binding: undefined,
  cause: { depth: 0 },
  isOver: () => false,
};

test.each([
  ['global middleware', { globalMiddleware: ['gate'], routeMiddleware: [] }],
  ['middleware of a route', { globalMiddleware: [], routeMiddleware: ['gate'] }],
])('[guarantees 4] %s that has not answered after 5 s ends the request', (_what, asked) => {
  const engine = new EngineInMemory();
  const worker = engine.connect();
  worker.register('gate');
  const story: string[] = [];
  runChecks(
    engine.port,
    { ...CHECKS, ...asked },
    {
      passed: () => story.push('passed'),
      answered: () => story.push('answered'),
      failed: ({ status, code }) => story.push(`${status} ${code}`),
      gone: () => story.push('gone'),
    },
  );
  const call = worker.nextCall();
  engine.advance(4_900);
  expect(story).toEqual([]);
  engine.advance(200);
  worker.result(call, { action: 'continue' });
  expect(story).toEqual(['504 TIMEOUT']);
});
