// Steps that are sent to Redis again until it has answered, so that no outcome is lost.

import type { Clock } from '../../../../effects/clock.ts';
import type { Logger } from '../../../../effects/logger.ts';
import { messageOf, type Reply } from './commands.ts';

const AGAIN_MS = 200;

export interface StepWorld {
  readonly clock: Pick<Clock, 'after'>;
  readonly logger: Logger;
}

export class Steps {
  readonly #world: StepWorld;
  #isOver = false;

  constructor(world: StepWorld) {
    this.#world = world;
  }

  /** `send` receives whether the step may have been carried out before. Does not answer if the engine ends first. */
  carryOut(send: (isRepeat: boolean) => Promise<Reply>, done: (reply: Reply) => void): void {
    const attempt = (isRepeat: boolean): void => {
      send(isRepeat).then(done, (error: unknown) => {
        if (this.#isOver) return;
        if (!isRepeat) this.#world.logger.warn('A step of a queue waits for Redis', { error: messageOf(error) });
        this.#world.clock.after(AGAIN_MS, () => attempt(true));
      });
    };
    attempt(false);
  }

  end(): void {
    this.#isOver = true;
  }
}
