// The owner of triggers that a worker of another engine registered. Only trusted workers share theirs.

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

export class RemoteOwner {
  readonly engine: RemoteEngine;
  /** Its id on the other engine. */
  readonly workerId: string;
  /** It sends its deadlines, and writes its streams before it returns. */
  readonly isOwnSdk: boolean;
  /** It stands for none: the trigger is a durable one of the first router of this process. */
  readonly isDurable: boolean;
  readonly access = undefined;
  readonly guard = undefined;
  readonly state = 'open';
  readonly triggers = new Set<string>();

  constructor(engine: RemoteEngine, workerId: string, isOwnSdk: boolean, isDurable = false) {
    this.engine = engine;
    this.workerId = workerId;
    this.isOwnSdk = isOwnSdk;
    this.isDurable = isDurable;
  }

  get displayName(): string {
    const { isRouter, shownId, workers } = this.engine;
    return isRouter ? (workers.get(this.workerId)?.name ?? this.workerId) : `engine ${shownId}`;
  }

  get functions(): ReadonlySet<string> {
    return this.engine.functions;
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
