// The other engines of the cluster and the other routers of this process, as modules ask them.

import type { Payload } from '../../protocol/payload/payload.ts';
import type { RouterContext } from '../context.ts';
import { type AnswersOfEngines, askAll, askEngine } from './ask-engines.ts';
import { describeRemotes } from './described-functions.ts';
import { learnFirings } from './learn-firings.ts';
import { allOthers, enginesOf } from './offers.ts';

export class OthersPort {
  readonly #context: RouterContext;

  constructor(context: RouterContext) {
    this.#context = context;
  }

  /** What all other engines of the cluster answer; `undefined`: there are none. `payload`: JSON. */
  askEngines(functionId: string, payload: Payload | undefined): Promise<AnswersOfEngines> | undefined {
    return askAll(this.#context, enginesOf(this.#context), functionId, payload);
  }

  /** What each router of the cluster, or of this process `only`, knows of its connections. */
  askRouters(id: string, payload: Payload | undefined, only = false): Promise<AnswersOfEngines> | undefined {
    return askAll(this.#context, only ? [...this.#context.otherRouters] : allOthers(this.#context), id, payload);
  }

  /** Resolves when all other routers of this process know what has changed here; `undefined`: there are none. */
  known(): Promise<void> | undefined {
    const { whenOthersKnow } = this.#context;
    return whenOthersKnow && new Promise((resolve) => whenOthersKnow(resolve));
  }

  /** Asks that engine; `undefined`: there is none with this id. */
  askEngine(engineId: string, functionId: string, payload: Payload | undefined) {
    const engine = allOthers(this.#context).find(({ id }) => id === engineId);
    return engine && askEngine(this.#context, engine, functionId, payload);
  }

  /**
   * Learns the descriptions and schemas of functions that only other engines offer: these, or all. Resolves when their
   * rows have them, or their engines did not answer in time. `undefined`: every row has what is known.
   */
  describe(functionIds?: readonly string[]): Promise<void> | undefined {
    return describeRemotes(this.#context, functionIds);
  }

  /**
   * Learns when triggers fired last on the other routers of this process and on other engines: those of this function,
   * or all. `undefined`: there are none.
   */
  learnFirings(functionId?: string): Promise<void> | undefined {
    const learned = [this.flushRouters(), learnFirings(this.#context, functionId)].filter((one) => one !== undefined);
    return learned.length === 0 ? undefined : Promise.all(learned).then(() => {});
  }

  /** Resolves when what further routers observed and counted before is known here; `undefined`: there are none. */
  flushRouters(): Promise<void> | undefined {
    return this.#context.flushRouters?.();
  }
}
