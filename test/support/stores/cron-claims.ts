// Claims of cron ticks by the commands of the real store, on a map in memory that outlives the engines of a test.

import type { Clock } from '../../../src/effects/clock.ts';
import { storeClaims, type TickClaims } from '../../../src/modules/cron/claims.ts';
import { MemoryStore } from '../../../src/store/kv/kv-memory.ts';
import { COMMANDS } from '../../../src/store/thread/commands.ts';
import { STORE_LIMITS, type Store } from '../../../src/store/thread/contract.ts';

export class CronDisk {
  readonly #kv = new MemoryStore();
  /** If set, every command fails with this text, as on a broken disk. */
  trouble: string | undefined;
  /** Pending answers: with `isSlow` they wait for `answer`. */
  readonly #waiting: (() => void)[] = [];
  isSlow = false;

  claims(clock: Clock): TickClaims {
    return storeClaims(this.#store(clock), () => {});
  }

  /** Delivers the pending answers. */
  answer(): void {
    for (const give of this.#waiting.splice(0)) give();
  }

  #store(clock: Clock): Store {
    return {
      trouble: undefined,
      details: {},
      watch: () => () => {},
      run: (name, input, done) => {
        const command = COMMANDS.find((candidate) => candidate.name === name);
        if (command === undefined) throw new Error(`There is no command ${name}`);
        const world = {
          ...{ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs(), run: '1', epoch: '1' },
          ...{ isDropIn: false, wantsEvents: false, limits: STORE_LIMITS },
        };
        const error = this.trouble;
        const reply =
          error === undefined
            ? this.#kv.write((kv) => command.run(kv, input, world))
            : { error: { code: 'STORAGE_UNAVAILABLE', message: error } };
        if (this.isSlow) this.#waiting.push(() => done(reply));
        else done(reply);
      },
    };
  }
}
