// Functions of the engine that a further router of the process runs itself while nothing needs the first one. Commands
// of state go straight to the thread of the store as long as no trigger listens to changes.
//
// Invariants:
//   - Calls take effect in the order in which they came, also where their place changes: calls that run here and calls
//     that were passed on are never in flight at the same time.
//   - A call waits only for such a change.

import { Refusal } from '../../core/calls/refusal.ts';
import type { RawBuiltinDefinition } from '../builtin.ts';
import { refuse } from '../calls/invoke.ts';
import { runBuiltin } from '../calls/run-builtin.ts';
import { keptRequest } from '../calls/waiting.ts';
import type { CallRequest, OwnPlace, RouterContext } from '../context.ts';
import { forward } from './relayed-calls.ts';
import type { RemoteEngine } from './remote-engine.ts';

export interface RunPlaceOptions {
  readonly context: RouterContext;
  readonly home: RemoteEngine;
  readonly functions: readonly RawBuiltinDefinition[];
  /** Whether only the first router may run them now. */
  readonly mustPassOn: () => boolean;
}

/** Callers that await their answers have fewer calls. */
const WAITING_MAX = 10_000;

export class RunPlace implements OwnPlace {
  readonly #options: RunPlaceOptions;
  readonly #functions: ReadonlyMap<string, RawBuiltinDefinition>;
  #here = 0;
  #passedOn = 0;
  #waiting: CallRequest[] = [];
  #isResuming = false;

  constructor(options: RunPlaceOptions) {
    this.#options = options;
    this.#functions = new Map(options.functions.map((definition) => [definition.id, this.#counted(definition)]));
  }

  take(request: CallRequest): void {
    if (this.#waiting.length === 0 && this.#started(request)) return;
    if (this.#waiting.length < WAITING_MAX) return void this.#waiting.push(keptRequest(request));
    const text = `${WAITING_MAX} calls wait for the first router of the process`;
    this.#refuse(request, new Refusal('OVERLOADED', `Call of ${request.functionId} refused: ${text}`));
  }

  /** False: calls of the other place are in flight. */
  #started(request: CallRequest): boolean {
    const { context, mustPassOn } = this.#options;
    const own = this.#functions.get(request.functionId);
    // Read once: another thread may change it at any moment.
    const isHere = own !== undefined && !mustPassOn();
    if ((isHere ? this.#passedOn : this.#here) > 0) return false;
    if (isHere) runBuiltin(context, own, request);
    else this.#passOn(request);
    return true;
  }

  #passOn(request: CallRequest): void {
    const { context, home } = this.#options;
    this.#passedOn++;
    const refusal = forward(context, home, request, { ended: this.#passedOnEnded });
    if (refusal === undefined) return;
    this.#refuse(request, refusal);
    this.#passedOnEnded();
  }

  #refuse({ caller, ref, functionId }: CallRequest, refusal: Refusal): void {
    refuse(this.#options.context, caller, ref, functionId, refusal);
  }

  readonly #passedOnEnded = (): void => {
    this.#passedOn--;
    this.#resume();
  };

  /** Its answer ends it, also one that comes after the deadline of the call. */
  #counted(definition: RawBuiltinDefinition): RawBuiltinDefinition {
    const ended = (): void => {
      this.#here--;
      this.#resume();
    };
    return {
      ...definition,
      handleRaw: (payload, call, done) => {
        this.#here++;
        try {
          definition.handleRaw(payload, call, (outcome) => {
            try {
              done(outcome);
            } finally {
              ended();
            }
          });
        } catch (error) {
          ended();
          throw error;
        }
      },
    };
  }

  #resume(): void {
    if (this.#waiting.length === 0 || this.#isResuming) return;
    this.#isResuming = true;
    let started = 0;
    for (const request of this.#waiting) {
      if (!this.#started(request)) break;
      started++;
    }
    this.#waiting = this.#waiting.slice(started);
    this.#isResuming = false;
  }
}
