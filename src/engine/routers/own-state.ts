// State that is kept on this machine, as a further router reaches it: its commands go straight to the thread of the
// store. Changes with a listener are made by the first router, which fires the triggers in the order of the changes.

import { mustPassOn } from '../../modules/shared-state.ts';
import { NOT_HEARD, stateFunctions } from '../../modules/state/functions.ts';
import type { RouterContext } from '../../router/context.ts';
import { StoreClient } from '../../store/thread/client.ts';
import type { Store } from '../../store/thread/contract.ts';
import { PortWorker } from '../../store/thread/port-worker.ts';
import type { StateAccess } from './thread-messages.ts';

type OwnStateContext = Pick<RouterContext, 'clock' | 'logger' | 'counters' | 'triggers'>;

interface OpenState {
  readonly store: StoreClient;
  readonly worker: PortWorker;
  readonly flag: Int32Array;
}

export class OwnState {
  readonly functions = stateFunctions({ run: (...command) => this.#run(...command) }, NOT_HEARD);
  readonly #context: OwnStateContext;
  readonly #storeFailed: (reason: string) => void;
  #open: OpenState | undefined;

  constructor(context: OwnStateContext, storeFailed: (reason: string) => void) {
    this.#context = context;
    this.#storeFailed = storeFailed;
  }

  get waitingCommands(): number {
    return this.#open?.store.waitingCommands ?? 0;
  }

  /** Whether calls must be passed on to the first router, also because the engine keeps no state on this machine. */
  get isHeard(): boolean {
    if (this.#open === undefined || mustPassOn(this.#open.flag)) return true;
    // A trigger of this router may be on its way to the first one.
    return this.#context.triggers.bindingsOf('state').size > 0;
  }

  /** The state module has started on the first router, for the first time or again. */
  open({ port, name, flag }: StateAccess): void {
    const { clock, logger, counters } = this.#context;
    const worker = new PortWorker(port);
    const before = this.#open;
    const store = new StoreClient({ name, worker, clock, logger, counters, onFailure: this.#storeFailed });
    this.#open = { store, worker, flag };
    void before?.store.idle().then(() => before.worker.close());
  }

  #run(...command: Parameters<Store['run']>): void {
    if (this.#open === undefined) throw new Error('No state is kept on this machine');
    this.#open.store.run(...command);
  }
}
