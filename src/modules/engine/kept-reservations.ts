// Keeps the table of reserved names on disk, next to the durable triggers, so that it survives restarts.
//
// A change is written soon after it was made, in the order of changes. An engine without a store on disk keeps the
// table in memory only.

import { createHash } from 'node:crypto';
import type { Reservation, ReservationChange, ReservedKind } from '../../core/access/reservations.ts';
import type { Store } from '../../store/thread/contract.ts';
import { runCommand } from '../../store/thread/run-command.ts';
import type { ModuleContext } from '../module.ts';
import { storedRows } from './stored-rows.ts';

const PAGE_SIZE = 1_000;
/** Commands on their way to the store at a time: a worker may register ten thousand functions in one turn. */
const AWAY_MAX = 256;
const WRITE_AGAIN_MS = 1_000;
const KINDS: readonly ReservedKind[] = ['function', 'route', 'subscription', 'trigger type'];

type Parts = Pick<ModuleContext, 'router' | 'stores' | 'logger' | 'clock'>;

export class KeptReservations {
  readonly #parts: Parts;
  readonly #changes: ReservationChange[] = [];
  #unfollow: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #isWriting = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Reserves the names that were reserved when the engine ended. */
  async load(): Promise<void> {
    const { router, stores } = this.#parts;
    const store = stores.durable;
    if (store === undefined) return;
    for await (const row of storedRows(store, 'reservations::list', PAGE_SIZE)) {
      if (!isReservation(row)) throw new Error(`A reservation has an unknown shape: ${JSON.stringify(row)}`);
      router.reserve(row.kind, row.name);
    }
    this.#unfollow = router.reservations.onChange((change) => {
      this.#changes.push(change);
      if (this.#changes.length === 1) this.#parts.clock.afterTurn(() => void this.#write(store));
    });
  }

  /** What is not written yet is on its way when it returns: a worker may have come just before the engine ends. */
  stop(): void {
    this.#unfollow?.();
    this.#cancelRetry?.();
    const store = this.#parts.stores.durable;
    if (store === undefined) return;
    for (const change of this.#changes.splice(0)) {
      writeOne(store, change).catch((error: unknown) => this.#parts.logger.error(NOT_KEPT, { error: String(error) }));
    }
  }

  /** Resolves when every change so far is on disk, or when the store refuses it. */
  async #write(store: Store): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { clock, logger } = this.#parts;
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
  return typeof name === 'string' && KINDS.some((known) => known === kind);
}
