// Random frames of a restricted connection during random events: no function that it may not call is called because of
// them.

import { expect, test } from 'vitest';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { addTriggerType, type NotedTriggerType } from '../../../support/engine/module-trigger-type.ts';
import { openRestricted, type RestrictedPort } from '../../../support/engine/restricted-port.ts';
import { faultLine } from '../../../support/load/fault-line.ts';
import { forEachSeedInTurn, RUNS_ALL_SEEDS, type SeededRandom } from '../../../support/random/seeded-random.ts';

const IDS = [
  ...['api::x', 'api::x', 'api::x', 'maybe::x', 'maybe::x', 'ui::x'],
  'api::x',
  'secret::x',
  'maybe::x',
  'ui::x',
  'p::ui::x',
  'Api::x',
  ' api::x',
  'auth',
  'engine::register_trigger',
];
const TYPES = ['t', 'engine::workers-available', 'engine::functions-available', 'own', 'closed'];
const STEPS = 500;

test('[X7] [fault 37] No random sequence of frames reaches a hidden function', async () => {
  const line = faultLine('37', 'RBAC reach-around', 'hidden reached=0');
  let callsSeen = 0;
  await forEachSeedInTurn(20, async (random) => {
    const opened = await openRestricted({
      rbac: {
        expose_functions: ['match("api::*")', { metadata: { public: true } }],
        allow_trigger_types: TYPES.filter((type) => type !== 'closed'),
      },
      browser: { messages: { perSecond: 1_000_000, burst: 1_000_000 } },
    });
    const type = addTriggerType(opened.engine, 't');
    const { backend } = opened;
    for (const id of ['api::x', 'secret::x', 'maybe::x']) backend.register(id);
    const pages = [
      await opened.browser({ allow_trigger_type_registration: true }),
      await opened.browser({ function_registration_prefix: 'p', forbidden_functions: ['api::secret'] }),
    ];
    let isPublic = false;
    for (let step = 0; step < STEPS; step++) {
      if (random.chance(70)) pageSends(random, random.pick(pages));
      else isPublic = worldMoves(random, opened, type, isPublic);
      for (const page of pages) answerAll(random, page);
      // An answer may be that of a condition and cause the next call: it counts with the state in which it was made.
      for (let calls = callsOf(backend); calls.length > 0; calls = callsOf(backend)) {
        for (const call of calls) {
          callsSeen++;
          const isOpen = call.function_id === 'api::x' || (call.function_id === 'maybe::x' && isPublic);
          expect([call.function_id, isOpen]).toEqual([call.function_id, true]);
          backend.result(call, random.pick([true, false, null]));
        }
      }
      expect([...opened.engine.context.triggers.bindings()].map((binding) => binding.type)).not.toContain('closed');
    }
  });
  line.figure = `hidden reached=0,calls=${callsSeen}`;
  // Some function has to be reached, or the test would show nothing.
  // About 940, with a deviation of 70.
  if (RUNS_ALL_SEEDS) expect(callsSeen).toBeGreaterThan(200);
});

function pageSends(random: SeededRandom, page: TestWorker): void {
  const id = random.pick(IDS);
  const config = random.pick([
    {},
    { condition_function_id: random.pick(IDS) },
    { deep: { function_ids: [random.pick(IDS)] } },
  ]);
  const triggerId = `b-${random.below(6)}`;
  const payload = { trigger_type: random.pick(TYPES), function_id: random.pick(IDS), config };
  const moves = [
    () => void page.invoke(id, payload),
    () => page.invokeVoid(id, payload),
    () => void page.invoke(id, payload, { action: { type: 'enqueue', queue: 'q' } }),
    () => page.bind(triggerId, payload.trigger_type, id, { config }),
    () => page.bind(triggerId, payload.trigger_type, id, { config }),
    () => page.unbind(triggerId),
    () => page.register(id, { metadata: random.pick([undefined, { public: true }]) }),
    () => page.unregister(id),
    () => page.provideType(random.pick(TYPES)),
  ];
  random.pick(moves)();
}

/** Returns whether `maybe::x` is exposed from now on. */
function worldMoves(
  random: SeededRandom,
  { engine, backend }: RestrictedPort,
  type: NotedTriggerType,
  isPublic: boolean,
): boolean {
  const move = random.below(4);
  if (move === 0) engine.port.fire(type.bindings, Payload.ofText(rawJson({ event: 1 })), { depth: 0 });
  if (move === 1) backend.announce({ name: `backend ${random.below(9)}` });
  if (move === 2) engine.advance(300);
  if (move !== 3) return isPublic;
  backend.register('maybe::x', isPublic ? {} : { metadata: { public: true } });
  return !isPublic;
}

/** Handlers of pages answer, so that conditions that they offer are decided. */
function answerAll(random: SeededRandom, page: TestWorker): void {
  for (const call of callsOf(page)) {
    page.result(call, random.pick([true, false]));
  }
}

function callsOf(worker: TestWorker) {
  return worker.received().filter(({ type }) => type === 'invokefunction');
}
