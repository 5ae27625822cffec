// Which parked jobs a newly registered function wakes.

import { expect, test } from 'vitest';
import { AwaitedFunctions, ParkedWatch } from '../../../../src/modules/queue/waiting-for-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const byRestricted = (_id: string, isTrustedWork: boolean): boolean => !isTrustedWork;

test('A function of a restricted connection wakes no trusted work, however often it is checked', () => {
  const awaited = new AwaitedFunctions();
  awaited.add('bill', true);
  expect([...awaited.takeOffered(byRestricted)]).toEqual([]);
  expect(awaited.isEmpty).toBe(false);
  expect([...awaited.takeOffered(() => true)]).toEqual(['bill']);
  expect(awaited.isEmpty).toBe(true);
});

test('Jobs of unknown origin are checked at once, and trusted ones of them keep waiting', () => {
  const awaited = new AwaitedFunctions();
  awaited.addUnknown('bill');
  expect([...awaited.takeOffered(byRestricted)]).toEqual(['bill']);
  const parked = new AwaitedFunctions();
  parked.add('bill', true);
  awaited.addAll(parked);
  expect([...awaited.takeOffered(byRestricted)]).toEqual([]);
});

function setUp(parkedElsewhere: (queue: string) => Promise<readonly string[]>) {
  const engine = new EngineInMemory();
  const noted: string[] = [];
  const runner = { settings: { name: 'q' }, noteParked: (ids: readonly string[]) => noted.push(...ids) };
  const { clock, context } = engine;
  const watch = new ParkedWatch({
    adapter: { sharing: { mayHandOver: () => true, parkedElsewhere } },
    queues: { all: [runner] },
    clock,
    logger: context.logger,
  });
  return { engine, watch, noted };
}

test('[Q7] Functions that jobs of other engines wait for are searched periodically, until the end', async () => {
  const { engine, watch, noted } = setUp(async () => ['f']);
  watch.start();
  for (let look = 0; look < 3; look++) {
    engine.advance(5_000);
    await engine.turn();
  }
  expect(noted).toEqual(['f', 'f', 'f']);
  watch.stop();
  engine.advance(60_000);
  await engine.turn();
  expect(noted).toHaveLength(3);
});

test('[Q7] A search that fails is repeated by the next one', async () => {
  let isAway = true;
  const { engine, watch, noted } = setUp(async () => {
    if (isAway) throw new Error('away');
    return ['f'];
  });
  watch.start();
  engine.advance(5_000);
  await engine.turn();
  isAway = false;
  engine.advance(5_000);
  await engine.turn();
  expect(noted).toEqual(['f']);
});

test('[Q7] A slow search is followed by a long pause', async () => {
  const answers: ((functionIds: readonly string[]) => void)[] = [];
  const { engine, watch } = setUp(() => new Promise((resolve) => answers.push(resolve)));
  watch.start();
  engine.advance(5_000);
  engine.advance(1_000);
  answers[0]?.([]);
  await engine.turn();
  engine.advance(19_000);
  expect(answers).toHaveLength(1);
  engine.advance(1_000);
  expect(answers).toHaveLength(2);
});
