// `engine::reservations::…`: the names that belong to trusted workers, and how one is released to restricted
// connections. The table is kept on disk, next to the durable triggers, so that it survives restarts.
//
// A change is written soon after it was made, in the order of changes. An engine without a store on disk keeps the
// table in memory only.

import { createHash } from 'node:crypto';
import { RESERVED_KINDS, type Reservation, type ReservationChange } from '../../core/access/reservations.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { validateReservation, validateReservationsList } from '../../generated/module-payloads.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { runCommand, type Store } from '../../store/thread/contract.ts';
import type { ModuleContext } from '../module.ts';
import type { EngineAnswers } from './answers.ts';
import { storedRows } from './stored-rows.ts';

const LIST_MAX = 1_000;

export function reservationsList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::reservations::list';
  return {
    id,
    description: 'Lists the names that only trusted workers may use',
    handle(payload, call): EngineAnswers[typeof id] {
      assertTrusted(id, call);
      const { kind, search, offset, limit } = readPayload(id, validateReservationsList, payload);
      const found = [...router.reservations.all()].filter(
        (one) => (kind == null || one.kind === kind) && (search == null || one.name.includes(search)),
      );
      const start = Math.max(0, Math.trunc(offset ?? 0));
      const count = Math.min(LIST_MAX, Math.max(1, Math.trunc(limit ?? LIST_MAX)));
      return { reservations: found.slice(start, start + count), total: found.length };
    },
  };
}

export function reservationsRelease(router: RouterPort): BuiltinDefinition {
  const id = 'engine::reservations::release';
  return {
    id,
    description: 'Lets connections of ports with rbac use a name that a trusted worker used before',
    handle(payload, call) {
      assertTrusted(id, call);
      const { kind, name } = readPayload(id, validateReservation, payload);
      if (!router.reservations.release(kind, name))
        throw new Refusal('NOT_FOUND', `The ${kind} ${name} is not reserved`);
      const released: EngineAnswers[typeof id] = { success: true };
      return router.others.known()?.then(() => released) ?? released;
    },
  };
}

const PAGE_SIZE = 1_000;
/** Commands on their way to the store at a time: a worker may register ten thousand functions in one turn. */
const AWAY_MAX = 256;
const WRITE_AGAIN_MS = 1_000;

type Context = Pick<ModuleContext, 'router' | 'stores' | 'logger' | 'clock'>;

export class KeptReservations {
  readonly #context: Context;
  readonly #changes: ReservationChange[] = [];
  #stopWatching: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #isWriting = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Reserves the names that were reserved when the engine ended. */
  async load(): Promise<void> {
    const { router, stores } = this.#context;
    const store = stores.durable;
    if (store === undefined) return;
    for await (const row of storedRows(store, 'reservations::list', PAGE_SIZE)) {
      if (!isReservation(row)) throw new Error(`A reservation has an unknown shape: ${JSON.stringify(row)}`);
      router.reserve(row.kind, row.name);
    }
    this.#stopWatching = router.reservations.onChange((change) => {
      this.#changes.push(change);
      if (this.#changes.length === 1) this.#context.clock.afterTurn(() => void this.#write(store));
    });
  }

  /** What is not written yet is on its way when it returns: a worker may have come just before the engine ends. */
  stop(): void {
    this.#stopWatching?.();
    this.#cancelRetry?.();
    const store = this.#context.stores.durable;
    if (store === undefined) return;
    for (const change of this.#changes.splice(0)) {
      writeOne(store, change).catch((error: unknown) => this.#context.logger.error(NOT_KEPT, { error: String(error) }));
    }
  }

  /** Resolves when every change so far is on disk, or when the store refuses it. */
  async #write(store: Store): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { clock, logger } = this.#context;
    try {
      while (this.#changes.length > 0) {
        const next = this.#changes.slice(0, AWAY_MAX);
        await Promise.all(next.map((change) => writeOne(store, change)));
        this.#changes.splice(0, next.length);
      }
    } catch (error) {
      if (this.#changes.length === 0) return;
      logger.error(`${NOT_KEPT}; it is tried again`, { error: String(error) });
      this.#cancelRetry = clock.after(WRITE_AGAIN_MS, () => void this.#write(store));
    } finally {
      this.#isWriting = false;
    }
  }
}

const NOT_KEPT = 'The names reserved for trusted workers were not kept';

/** Repeating it changes nothing. */
function writeOne(store: Store, { kind, name, isReserved }: ReservationChange): Promise<unknown> {
  // Names may be longer than the limit of keys, and contain characters that keys must not.
  const id = createHash('sha256').update(`${kind}\n${name}`).digest('base64url');
  return isReserved
    ? runCommand(store, 'reservations::put', { id, kind, name })
    : runCommand(store, 'reservations::remove', { id });
}

function isReservation(row: unknown): row is Reservation {
  if (typeof row !== 'object' || row === null) return false;
  const { kind, name } = row as Partial<Record<string, unknown>>;
  return typeof name === 'string' && RESERVED_KINDS.some((known) => known === kind);
}
