// The owner of triggers that a worker of another engine registered.
//
// What the triggers of a restricted connection reach is judged by its own engine, which gets their calls.

import type { Access } from '../../core/access/access.ts';
import type { EngineFrame } from '../../protocol/frames/frames.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { RemoteEngine } from './remote-engine.ts';

/** What is known of a trigger's origin. */
interface Owned {
  readonly id: string;
  readonly owner: unknown;
}

/** The id under which its worker knows the trigger. */
export function registeredIdOf({ id, owner }: Owned): string {
  return owner instanceof RemoteOwner ? owner.ownIdOf(id) : id;
}

/** What its engine says about the owner. */
interface OwnerFacts {
  readonly workerId: string;
  readonly isOwnSdk: boolean;
  readonly isDurable: boolean | undefined;
  readonly access: Access | undefined;
}

export class RemoteOwner {
  readonly engine: RemoteEngine;
  /** Its id on the other engine. */
  readonly workerId: string;
  /** It sends its deadlines, and writes its streams before it returns. */
  readonly isOwnSdk: boolean;
  /** It stands for none: the trigger is a durable one of the first router of this process. */
  readonly isDurable: boolean;
  /** Of a restricted connection: what was granted to it. */
  readonly access: Access | undefined;
  readonly guard = undefined;
  readonly state = 'open';
  readonly triggers = new Set<string>();

  constructor(engine: RemoteEngine, { workerId, isOwnSdk, isDurable, access }: OwnerFacts) {
    this.engine = engine;
    this.workerId = workerId;
    this.isOwnSdk = isOwnSdk;
    this.isDurable = isDurable === true;
    this.access = access;
  }

  get displayName(): string {
    const { isRouter, shownId, workers } = this.engine;
    return isRouter ? (workers.get(this.workerId)?.name ?? this.workerId) : `engine ${shownId}`;
  }

  /** It is a restricted connection that has triggers: its engine judges what they call. */
  get isThere(): boolean {
    return this.access !== undefined && this.triggers.size > 0;
  }

  /** The id of its trigger in the table of this engine: two engines may have triggers of one id, two routers not. */
  idOf(triggerId: string): string {
    return this.engine.isRouter ? triggerId : `${this.engine.id}/${triggerId}`;
  }

  /** The id that its worker gave the trigger. */
  ownIdOf(id: string): string {
    return this.engine.isRouter ? id : id.slice(this.engine.id.length + 1);
  }

  /**
   * Another engine of a cluster reports verdicts itself, because it has the same modules; another router has not. Only
   * who registered a durable trigger waits for its acceptance.
   */
  send(frame: EngineFrame<RawJson>): void {
    if (!this.engine.isRouter || frame.type !== 'triggerregistrationresult') return;
    const { error } = frame;
    if (error === undefined && !this.isDurable) return;
    this.engine.sendVerdict(this.ownIdOf(frame.id), error);
  }
}
