// The engine in memory with workers that act in random order. After each step the tables must agree with
// each other and with what the workers were sent. A failure names its seed; see `support/random/seeded-random.ts`.

import { expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import type { ReceivedFrame } from '../../../support/fakes/fake-socket.ts';
import { forEachSeed, RUNS_ALL_SEEDS, type SeededRandom } from '../../../support/random/seeded-random.ts';

const FUNCTIONS = ['f', 'g', 'shop::h'];
const TYPES = ['hook', 'timer', 'engine::workers-available', 'engine::functions-available'];
const TRIGGERS = ['t1', 't2', 't3', 't4', 't5'];

test('[W3] In any order of events, tables and workers agree, and every call is answered once', () => {
  const done = { calls: 0, answers: 0, closed: 0, deliveries: 0 };
  forEachSeed(25, (random) => new Play(random, done).run(150));
  // The run must reach everything that it tests.
  if (!RUNS_ALL_SEEDS) return;
  // About 195, with a deviation of 20.
  expect(Math.min(...Object.values(done))).toBeGreaterThan(30);
});

interface Player {
  readonly worker: TestWorker;
  /** Calls it received and has not answered. */
  readonly calls: ReceivedFrame[];
  /** Its own calls that wait for an answer. */
  readonly awaited: Set<string>;
  /** Bindings it received as a provider, by type and id. */
  readonly known: Map<string, ReceivedFrame>;
  /** The previous connection, if the worker reconnected. */
  readonly previous: TestWorker | undefined;
}

type Tally = Record<'calls' | 'answers' | 'closed' | 'deliveries', number>;

class Play {
  readonly #random: SeededRandom;
  readonly #done: Tally;
  readonly #engine: EngineInMemory;
  #players: Player[] = [];
  #gone: TestWorker[] = [];

  constructor(random: SeededRandom, done: Tally) {
    this.#random = random;
    this.#done = done;
    this.#engine = new EngineInMemory({
      random,
      settings: { isDropIn: random.chance(20), inFlightMax: 40 },
      balance: random.pick(['least_in_flight', 'newest', 'reject_duplicates'] as const),
      limits: {
        inFlightPerWorker: 4,
        inFlightPerCaller: 12,
        functionsPerWorker: 2,
        triggersPerWorker: 3,
        outboundBufferBytes: 4000,
        outboundCloseBytes: 8000,
      },
    });
  }

  run(steps: number): void {
    for (let player = 0; player < 4; player++) this.#connect();
    for (let step = 0; step < steps; step++) {
      this.#step();
      this.#engine.flush();
      this.#read();
      this.#check();
    }
    // Nothing may be left waiting once every deadline has passed.
    for (let second = 0; second < 40; second++) {
      for (const { worker } of this.#players) worker.sign();
      this.#engine.advance(1000);
    }
    this.#read();
    this.#check();
    for (const { awaited } of this.#players) expect([...awaited]).toEqual([]);
    expect(this.#engine.context.calls.openCount).toBe(0);
  }

  #step(): void {
    const random = this.#random;
    const player = this.#players[random.below(this.#players.length)];
    if (player === undefined || this.#players.length < 2) return this.#connect();
    const { worker } = player;
    const dice = random.below(100);
    if (dice < 8) worker.register(random.pick(FUNCTIONS), { description: random.pick(['x', 'é', null]) });
    else if (dice < 12) worker.unregister(random.pick(FUNCTIONS));
    else if (dice < 22) worker.bind(random.pick(TRIGGERS), random.pick(TYPES), random.pick(FUNCTIONS));
    else if (dice < 26) worker.unbind(random.pick(TRIGGERS));
    else if (dice < 31) this.#provide(player);
    else if (dice < 33) this.#stopProviding(player);
    else if (dice < 36) this.#judge(player);
    else if (dice < 56) this.#call(player);
    else if (dice < 74) this.#answer(player);
    else if (dice < 77) worker.announce({ name: random.pick(['a', 'b', '']) });
    else if (dice < 80) this.#connect();
    else if (dice < 83) this.#drop(player);
    else if (dice < 86) this.#comeBack(player);
    else if (dice < 88) worker.socket.stopReading();
    else if (dice < 91) worker.socket.readOn();
    else if (dice < 93) worker.send(random.pick(['', '{', '{"type":"x"}', '{"type":"pong"}', '{"type":"ping"}']));
    else this.#passTime();
  }

  #connect(previous?: TestWorker): void {
    const worker = this.#engine.connect({ ownSdk: this.#random.chance(50) });
    this.#players.push({ worker, calls: [], awaited: new Set(), known: new Map(), previous });
  }

  #drop(player: Player): void {
    player.worker.drop();
    this.#forget(player);
  }

  /** A new connection of the same worker, whose old one may still exist. */
  #comeBack({ worker, previous }: Player): void {
    this.#connect(worker);
    const successor = this.#players.at(-1);
    successor?.worker.reattach(this.#random.chance(70) ? worker : (previous ?? this.#gone.at(-1) ?? worker));
  }

  #provide({ worker, known }: Player): void {
    const type = this.#random.pick(TYPES);
    // It drops what it knew of the type, and receives all triggers again.
    for (const key of [...known.keys()]) if (key.startsWith(`${type} `)) known.delete(key);
    worker.provideType(type);
  }

  #stopProviding({ worker, known }: Player): void {
    const type = this.#random.pick(TYPES);
    for (const key of [...known.keys()]) if (key.startsWith(`${type} `)) known.delete(key);
    worker.send({ type: 'unregistertriggertype', id: type });
  }

  #judge({ worker, known }: Player): void {
    const bindings = [...known.values()];
    if (bindings.length === 0) return;
    worker.judge(this.#random.pick(bindings), this.#random.pick([undefined, 'no', { code: 'A', message: 'é' }]));
  }

  #call({ worker, calls, awaited }: Player): void {
    const functionId = this.#random.pick([...FUNCTIONS, 'engine::functions::list', 'missing', '']);
    const data = this.#random.pick([null, 1, 'x'.repeat(1500), { é: ['名'] }]);
    const baggage = this.#random.pick([...calls.map((call) => call.baggage), undefined]);
    const timeout_ms = this.#random.pick([1, 100, 5000, 30_000]);
    if (this.#random.chance(25)) worker.invokeVoid(functionId, data, { baggage, timeout_ms });
    else awaited.add(worker.invoke(functionId, data, { baggage, timeout_ms }));
    this.#done.calls++;
  }

  #answer({ worker, calls }: Player): void {
    const index = this.#random.below(calls.length + 1);
    const call = calls[index];
    if (call === undefined) return;
    if (this.#random.chance(90)) calls.splice(index, 1);
    if (this.#random.chance(30)) worker.fail(call, this.#random.pick(['no', null, { code: 'A', message: 'b' }]));
    else worker.result(call, this.#random.pick([null, 0, 'x'.repeat(1500)]));
  }

  #passTime(): void {
    for (const { worker } of this.#players) if (this.#random.chance(97)) worker.sign();
    this.#engine.advance(this.#random.pick([1, 50, 500, 5000, 20_000]));
  }

  /** Every worker reads what arrived. */
  #read(): void {
    for (const player of [...this.#players]) {
      for (const frame of player.worker.received()) this.#take(player, frame);
      if (!player.worker.socket.isOpen) this.#forget(player);
    }
  }

  #take({ calls, awaited, known }: Player, frame: ReceivedFrame): void {
    const key = `${frame.trigger_type} ${frame.id}`;
    if (frame.type === 'invokefunction') {
      calls.push(frame);
      this.#done.deliveries++;
    } else if (frame.type === 'registertrigger') {
      known.set(key, frame);
    } else if (frame.type === 'unregistertrigger') {
      known.delete(key);
    } else if (frame.type === 'invocationresult') {
      this.#done.answers++;
      if (!awaited.delete(String(frame.invocation_id))) throw new Error(`Answered twice: ${JSON.stringify(frame)}`);
    }
  }

  #forget(player: Player): void {
    this.#done.closed++;
    this.#gone.push(player.worker);
    this.#players = this.#players.filter((one) => one !== player);
  }

  #check(): void {
    const { sessions, calls } = this.#engine.context;
    const ids = this.#players.map(({ worker }) => worker.workerId);
    expect([...sessions.keys()].sort()).toEqual(ids.sort());
    this.#checkFunctions();
    this.#checkTriggers();
    let inFlight = 0;
    for (const session of sessions.values()) {
      inFlight += session.inFlight;
      const player = this.#players.find(({ worker }) => worker.workerId === session.workerId);
      expect([session.state, session.callsAwaited]).toEqual(['open', player?.awaited.size]);
    }
    expect(calls.openCount).toBe(inFlight);
  }

  #checkFunctions(): void {
    const { sessions, functions } = this.#engine.context;
    const offered = [...functions.all()].flatMap((entry) =>
      entry.kind === 'worker' ? entry.executors.map((executor) => `${entry.id} ${executor.workerId}`) : [],
    );
    const said = [...sessions.values()].flatMap((session) =>
      [...session.functions].map((id) => `${id} ${session.workerId}`),
    );
    expect(offered.sort()).toEqual(said.sort());
  }

  #checkTriggers(): void {
    const { sessions, triggers } = this.#engine.context;
    const bindings = [...triggers.bindings()];
    const owned = bindings.map((binding) => `${binding.id} ${binding.owner?.workerId}`);
    const said = [...sessions.values()].flatMap((session) =>
      [...session.triggers].map((id) => `${id} ${session.workerId}`),
    );
    expect(owned.sort()).toEqual(said.sort());
    for (const type of TYPES) {
      const ofType = bindings.filter((binding) => binding.type === type);
      expect(new Set(triggers.bindingsOf(type))).toEqual(new Set(ofType));
      const provider = triggers.type(type)?.provider;
      if (provider === undefined) {
        expect(ofType.filter((binding) => binding.state !== 'parked')).toEqual([]);
      } else if (provider.kind === 'worker') {
        expect(ofType.filter((binding) => binding.state === 'parked')).toEqual([]);
        // The provider's bindings are those of the table, unless the provider does not read.
        const player = this.#players.find(({ worker }) => worker.workerId === provider.executor.workerId);
        const known = [...(player?.known.keys() ?? [])].filter((key) => key.startsWith(`${type} `));
        expect(known.sort()).toEqual(ofType.map((binding) => `${type} ${binding.id}`).sort());
      }
    }
  }
}
