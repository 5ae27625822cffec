// An engine in memory with the cron module on a clock that the test sets, and a disk for claims that outlives it.

import { createCron } from '../../../src/modules/cron/index.ts';
import type { TestWorker } from '../clients/test-worker.ts';
import { addModule } from '../engine/add-module.ts';
import { EngineInMemory } from '../engine/engine-in-memory.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import type { ReceivedFrame } from '../fakes/fake-socket.ts';
import { CronDisk } from './cron-claims.ts';

/** A moment at which nothing is due but what happens every second. */
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

  /** `early` happens when the trigger type is there and the module has not started yet. */
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

  /** The process dies: nothing is told to anybody, and another engine starts on the same disk after a while. */
  async crash(downMs: number): Promise<CronEngine> {
    this.#module.stop();
    this.engine.stop();
    this.clock.advance(downMs);
    return await CronEngine.start(this.disk, this.clock);
  }

  bind(id: string, config: Record<string, unknown>, functionId = 'job'): void {
    this.worker.bind(id, 'cron', functionId, { config });
  }

  /** Lets time pass with a worker that lives and answers; returns the times its calls were scheduled for. */
  pass(ms: number, read: (call: ReceivedFrame) => string = timeOf): string[] {
    const ticks: string[] = [];
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.advance(Math.min(left, STEP_MS));
      this.worker.sign();
      ticks.push(...this.ticks(this.worker, read));
    }
    return ticks;
  }

  /** Times that calls since the last look were scheduled for, as `12:00:01`; every call is answered. */
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
