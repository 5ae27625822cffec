// Ids of triggers, or of trigger types, that one restricted connection asks for while another one has them.
//
// Job: hold such a registration back until the holder is gone, and grant it in the same step in which the holder
// leaves, so that no event falls between the two. A client without a reattach token replays its triggers while the
// engine still considers its old connection alive; an equal address proves nothing.
// Neighbours: `router/restricted/guarded-frames.ts` asks and waits; `router/session/withdraw.ts` and
// `router/triggers/triggers.ts` report ids that become free; `router/session/housekeeping.ts` ends claims that waited
// too long.
// Invariants:
//   - An id passes from one restricted connection to another when its holder has left, or under the same prefix.
//   - A claim ends once: retried when the id is free, refused, withdrawn, or gone with its connection.
//   - Ids that a proven reattach freed are kept for the successor; other claims keep waiting.

import { isSamePrefix } from '../../core/access/access.ts';
import { Groups } from '../../core/registry/groups.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Session } from '../session/session.ts';

/** Longer than the engine keeps a silent connection (W1). */
export const CLAIM_MS = 30_000;

export interface Claim {
  readonly session: Session;
  /** The effective id that is waited for, and the connection's own name for it. */
  readonly id: string;
  readonly ownId: string;
  /** The id may be free: everything is checked again. */
  readonly retry: () => void;
  /** The holder is alive and keeps it. */
  readonly refuse: () => void;
}

/** Who has an id. */
export interface Holder {
  /** Absent: a connection of another engine or router. */
  readonly session?: Session;
  /** That was granted to it. */
  readonly prefix: string | undefined;
}

/** For whom ids are kept after a proven reattach: a connection of this router, or of another one. */
export interface Heir extends Holder {
  readonly workerId: string;
  /** How many it may register. */
  readonly idsMax: number;
}

export function holderOf(session: Session): Heir {
  const { workerId, access, limits } = session;
  return { session, workerId, prefix: access?.grant.functionPrefix, idsMax: limits.triggersPerWorker };
}

interface Waiting extends Claim {
  sinceMs: number;
}

interface Inheritance {
  readonly heir: Heir;
  readonly ids: ReadonlySet<string>;
  sinceMs: number;
}

export class IdClaims {
  readonly #clock: Clock;
  readonly #ownerOf: (id: string) => Holder | undefined;
  readonly #byId = new Groups<string, Waiting>();
  readonly #bySession = new Map<Session, Map<string, Waiting>>();
  readonly #heirOf = new Map<string, Heir>();
  /** By the id of the heir. */
  readonly #inheritances = new Map<string, Inheritance>();

  constructor(clock: Clock, ownerOf: (id: string) => Holder | undefined) {
    this.#clock = clock;
    this.#ownerOf = ownerOf;
  }

  /** The holder that keeps the session from having that id; `undefined`: it may have it. */
  holderAgainst(session: Session, id: string): Holder | undefined {
    const holder = this.#ownerOf(id) ?? this.#heirOf.get(id);
    return holder === undefined || mayReplace(session, holder) ? undefined : holder;
  }

  countOf(session: Session): number {
    return this.#bySession.get(session)?.size ?? 0;
  }

  wait(claim: Claim): void {
    const { session, id, ownId } = claim;
    this.takeBack(session, ownId);
    const waiting: Waiting = { ...claim, sinceMs: this.#clock.monotonicMs() };
    const ofSession = this.#bySession.get(session) ?? new Map<string, Waiting>();
    this.#bySession.set(session, ofSession.set(ownId, waiting));
    this.#byId.add(id, waiting);
  }

  /** The connection withdraws the registration, or repeats it. */
  takeBack(session: Session, ownId: string): void {
    const waiting = this.#bySession.get(session)?.get(ownId);
    if (waiting !== undefined) this.#end(waiting);
  }

  /** Ids that may be free now. The oldest claim comes first; claims that find the id taken wait on. */
  released(ids: Iterable<string>): void {
    if (this.#bySession.size === 0) return;
    for (const id of ids) {
      for (const waiting of [...this.#byId.of(id)]) {
        if (waiting.session.state === 'closed' || this.holderAgainst(waiting.session, id) !== undefined) continue;
        this.#end(waiting);
        waiting.retry();
      }
    }
  }

  /**
   * A proven reattach: the ids that the old connection had, or had itself inherited, are reserved for its successor.
   */
  inherit(previousId: string, heir: Heir, ids: Iterable<string>): void {
    const all = [...new Set([...this.#drop(previousId), ...this.#drop(heir.workerId), ...ids])];
    // As many as it may register; of a chain of reattachments the latest, so that none keeps ever more of them.
    const inherited = new Set(all.slice(-heir.idsMax));
    this.released(all.slice(0, -heir.idsMax));
    if (inherited.size === 0) return;
    this.#inheritances.set(heir.workerId, { heir, ids: inherited, sinceMs: this.#clock.monotonicMs() });
    for (const id of inherited) this.#heirOf.set(id, heir);
  }

  /** What is kept for the connection. */
  inheritedBy({ workerId }: Session): Iterable<string> {
    return this.#inheritances.get(workerId)?.ids ?? NOTHING;
  }

  /** The session is gone, and with it its claims and inherited ids. */
  left(session: Session): void {
    for (const waiting of this.#bySession.get(session)?.values() ?? []) this.#end(waiting);
    this.released(this.#drop(session.workerId));
  }

  /**
   * Ends claims that have waited long enough. Time in which the engine itself was stopped does not count, as for
   * silence.
   */
  expire(nowMs: number, ownSilenceMs: number): void {
    for (const [heirId, inheritance] of this.#inheritances) {
      inheritance.sinceMs += ownSilenceMs;
      if (nowMs - inheritance.sinceMs >= CLAIM_MS) this.released(this.#drop(heirId));
    }
    for (const waiting of [...this.#bySession.values()].flatMap((ofSession) => [...ofSession.values()])) {
      waiting.sinceMs += ownSilenceMs;
      if (nowMs - waiting.sinceMs < CLAIM_MS) continue;
      this.#end(waiting);
      waiting.refuse();
    }
  }

  #drop(heirId: string): ReadonlySet<string> {
    const { heir, ids } = this.#inheritances.get(heirId) ?? { heir: undefined, ids: NOTHING };
    this.#inheritances.delete(heirId);
    for (const id of ids) if (this.#heirOf.get(id) === heir) this.#heirOf.delete(id);
    return ids;
  }

  #end(waiting: Waiting): void {
    this.#byId.remove(waiting.id, waiting);
    const ofSession = this.#bySession.get(waiting.session);
    ofSession?.delete(waiting.ownId);
    if (ofSession?.size === 0) this.#bySession.delete(waiting.session);
  }
}

const NOTHING: ReadonlySet<string> = new Set();

/** Its own, or that of a connection to which the same auth function gave the same prefix. */
function mayReplace(session: Session, holder: Holder): boolean {
  return holder.session === session || isSamePrefix(session.access?.grant.functionPrefix, holder.prefix);
}
