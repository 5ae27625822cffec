// An engine in memory with the cron module, on a clock that the test moves, and a store of claims that outlives it.

import { createCron } from '../../../src/modules/cron/index.ts';
import type { TestWorker } from '../clients/test-worker.ts';
import { addModule } from '../engine/add-module.ts';
import { EngineInMemory } from '../engine/engine-in-memory.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import type { ReceivedFrame } from '../fakes/fake-socket.ts';
import { CronDisk } from './cron-claims.ts';

/** A time at which only triggers of every second are due. */
export const START = Date.UTC(2026, 10, 21, 12, 0, 0, 500);

const STEP_MS = 5_000;

export class CronEngine {
  readonly engine: EngineInMemory;
  readonly disk: CronDisk;
  readonly clock: FakeClock;
  readonly worker: TestWorker;
  readonly #module: ReturnType<typeof createCron>;

  private constructor(engine: EngineInMemory, disk: CronDisk, module: ReturnType<typeof createCron>) {
    this.engine = engine;
    this.disk = disk;
    this.clock = engine.clock;
    this.#module = module;
    this.worker = engine.connect();
    this.worker.register('job');
  }

  /** `early` runs when the trigger type exists and the module has not started yet. */
  static async start(
    disk = new CronDisk(),
    clock = new FakeClock({ startMs: START }),
    early: (engine: EngineInMemory) => unknown = () => {},
  ): Promise<CronEngine> {
    const engine = new EngineInMemory({ clock });
    const module = createCron(engine.moduleContext(), disk.claims(clock));
    const start = async (): Promise<void> => {
      await early(engine);
      await module.start();
    };
    await addModule(engine, 'svc-cron', { ...module, start });
    return new CronEngine(engine, disk, module);
  }

  /** Ends the engine like a crash, and starts another one on the same store after a while. */
  async crash(downMs: number): Promise<CronEngine> {
    this.#module.stop();
    this.engine.stop();
    this.clock.advance(downMs);
    return await CronEngine.start(this.disk, this.clock);
  }

  bind(id: string, config: Record<string, unknown>, functionId = 'job'): void {
    this.worker.bind(id, 'cron', functionId, { config });
  }

  /** Moves the clock with a worker that answers; returns the scheduled times of its calls. */
  pass(ms: number, read: (call: ReceivedFrame) => string = timeOf): string[] {
    const ticks: string[] = [];
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.advance(Math.min(left, STEP_MS));
      this.worker.sign();
      ticks.push(...this.ticks(this.worker, read));
    }
    return ticks;
  }

  /** Answers all calls since the last time; returns their scheduled times, as `12:00:01`. */
  ticks(by = this.worker, read: (call: ReceivedFrame) => string = timeOf): string[] {
    return this.calls(by).map((call) => {
      by.result(call, null);
      return read(call);
    });
  }

  calls(by = this.worker): ReceivedFrame[] {
    return by.received().filter(({ type }) => type === 'invokefunction');
  }

  skipped(reason: string): number {
    return this.engine.count('cron.skipped', reason);
  }

  get warnings(): string[] {
    return this.engine.logLines.filter((line) => line.includes('were missed'));
  }

  drain(): void {
    this.#module.drain();
  }
}

export function timeOf(call: ReceivedFrame): string {
  return momentOf(call).slice(11, 19);
}

export function momentOf({ data }: ReceivedFrame): string {
  return String(Reflect.get(Object(data), 'scheduled_time'));
}
