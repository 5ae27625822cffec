// Another engine of the cluster as the router sees it: the calls that it runs for this engine, and the results that it
// gets for its own.
//
// Frames are those of the binary form. A function is named once in each session. Payloads travel as JSON or in the
// compact form, whose shapes are announced before their first use in a session; other forms are turned into JSON.
// Invariant: a session of the link ends once for both engines; every call that it carried is settled on each side.

import type { ForwardedRights } from '../../core/access/kept-rights.ts';
import type { CompactPayloads } from '../../core/calls/compact-payloads.ts';
import { unreadablePayload } from '../../core/calls/refusal.ts';
import type { Executor } from '../../core/calls/select-worker.ts';
import { tokenEndOf } from '../../core/cluster/reattach-token.ts';
import type { Reachable } from '../../core/cluster/select-engine.ts';
import type { Link } from '../../effects/carrier.ts';
import { NAMES_MAX } from '../../protocol/binary/binary-layout.ts';
import type { MessageBuffer } from '../../protocol/binary/binary-messages.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { type ByteString, byteStringToText, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import { SHAPES_MAX } from '../../protocol/payload/shape.ts';
import { type CallOrder, type Outcome, outcomeOf } from '../calls/call.ts';

/** What a call between engines carries besides the fields of every call. */
export interface RelayedOrigin {
  readonly trigger?: { readonly type: string; readonly id: string };
  readonly is_trusted_work?: true;
  readonly is_for_restricted?: true;
  readonly is_from_outside?: true;
  readonly is_job?: true;
  readonly is_internal?: true;
  /** Of a router thread: a function of the engine, which the first router runs for a connection of that router. */
  readonly for?: ForwardedFor;
  /** Of a router thread: the call becomes a job. */
  readonly enqueue?: EnqueueAction;
  /** Of a router thread: it wants to know which worker gets the call. */
  readonly names_worker?: true;
  /** A trigger of that restricted connection of the engine calls: the engine judges it. */
  readonly on_behalf_of?: string;
}

/** A restricted connection of another engine. */
export interface OwnerElsewhere {
  readonly engine: RemoteEngine;
  readonly workerId: string;
}

/** The connection that called a function of the engine on another router of the process. */
export interface ForwardedFor {
  /** Absent: the router itself calls. */
  readonly worker?: string;
  readonly name?: string;
  /** Absent: it may reach everything. */
  readonly rights?: ForwardedRights;
}

/** A call as it is passed on. */
export interface RelayedCall extends CallOrder {
  readonly rights: unknown;
  readonly isTrustedWork?: boolean | undefined;
  readonly isForRestricted?: boolean | undefined;
  readonly isFromOutside?: boolean | undefined;
  readonly isJob?: boolean | undefined;
  readonly isInternal?: boolean | undefined;
  readonly forwardedFor?: ForwardedFor | undefined;
  readonly enqueue?: EnqueueAction | undefined;
  readonly handed?: ((workerName: string) => void) | undefined;
  readonly onBehalfOf?: OwnerElsewhere | undefined;
}

/** Connections of workers outlive identities. */
const TOKEN_ENDS_MAX = 16;

export class RemoteEngine implements Executor, Reachable {
  readonly id: string;
  readonly zone: string | undefined;
  /** It is another router thread of this process. */
  readonly isRouter: boolean;
  /** Its id in the cluster. That of a router of this process changes with each identity. */
  memberId: string;
  /** It is a further router of another engine: that engine answers for all of its routers. */
  isFurther = false;
  /** The first router of its process, where that is another one and is known. */
  first: RemoteEngine | undefined = undefined;
  /** Of a router of this process: its connections, by id. */
  readonly workers = new Map<string, { readonly name: string; readonly address: string | undefined }>();
  /** Takes what another router of this process says about itself. */
  onControl: ((text: RawJson) => void) | undefined = undefined;
  /** What reattach tokens that it gave end with; the newest comes last. */
  readonly #tokenEnds: string[];
  readonly inFlightMax = Number.POSITIVE_INFINITY;
  inFlight = 0;
  /** Functions that it reaches, as this engine knows them. */
  readonly functions = new Set<string>();
  /** The ids of its restricted connections that have triggers. */
  readonly restrictedOwners = new Set<string>();
  /** Rises with every session of the link. */
  session = 0;
  #link: Link | undefined;
  /** Names that were sent in this session. */
  readonly #numbers = new Map<string, number>();
  readonly #compact: CompactPayloads;
  /** Who wants to know which worker of the other router gets a call; by slot. */
  readonly #wanted = new Map<number, { readonly generation: number; handed(workerName: string): void }>();
  /** By number, the shapes that were sent in this session. */
  #sentShapes: Uint8Array | undefined;

  constructor(id: string, zone: string | undefined, compact: CompactPayloads, isRouter = false) {
    this.id = id;
    this.isRouter = isRouter;
    this.zone = zone;
    this.memberId = id;
    this.#tokenEnds = [tokenEndOf(id)];
    this.#compact = compact;
  }

  get isAccepting(): boolean {
    return this.isUp && this.hasRoom;
  }

  get isUp(): boolean {
    return this.#link?.isUp === true;
  }

  get hasRoom(): boolean {
    return this.#link?.hasRoom === true;
  }

  get isDraining(): boolean {
    return this.#link?.isDraining === true;
  }

  get callsInFlight(): number {
    return this.#link?.callsInFlight ?? 0;
  }

  get trouble(): string {
    return this.#link?.trouble ?? 'it is not connected';
  }

  /** The id of the engine that people see. */
  get shownId(): string {
    return this.first?.id ?? this.id;
  }

  /** A router of this process has this id in the cluster from now on. */
  becameMember(memberId: string): void {
    this.memberId = memberId;
    this.#tokenEnds.push(tokenEndOf(memberId));
    if (this.#tokenEnds.length > TOKEN_ENDS_MAX) this.#tokenEnds.shift();
  }

  gaveToken(token: string): boolean {
    return this.#tokenEnds.some((end) => token.endsWith(end));
  }

  attach(link: Link): void {
    this.#link = link;
  }

  /** A session of the link begins or has ended. */
  sessionChanged(): void {
    this.session++;
    this.#numbers.clear();
    this.#sentShapes = undefined;
  }

  /** To be called before a payload is sent. False: it cannot be read. */
  admit(payload: Payload): boolean {
    if (payload.form === 'compact') return payload.visitShapes(this.#sendShape);
    return payload.asJson() !== undefined;
  }

  /** `slot` and `generation`: what its result names. False: the session has ended. */
  sendCall(functionId: string, slot: number, generation: number, request: RelayedCall): boolean {
    const frames = this.#link?.open();
    if (frames === undefined) return false;
    const { handed } = request;
    if (this.isRouter && handed !== undefined) this.#wanted.set(slot, { generation: generation >>> 0, handed });
    frames.call({
      idLow: slot,
      idHigh: generation,
      functionNumber: this.#numberOf(functionId, frames),
      depth: request.depth,
      timeoutMs: Math.ceil(request.timeoutMs),
      metadata: sentForm(request.metadata),
      traceparent: request.traceparent,
      baggage: request.baggage,
      extra: originOf(request, this.isRouter && handed !== undefined),
      payload: sentForm(request.data),
    });
    return true;
  }

  sendResult(slot: number, generation: number, { result, error, isUnhanded }: Outcome): void {
    const payload = error ?? result;
    const isReadable = payload === undefined || this.admit(payload);
    const frames = this.#link?.open();
    if (isReadable) frames?.result(slot, generation, sentForm(payload), error !== undefined, isUnhanded === true);
    else frames?.result(slot, generation, unreadableAnswer(payload), true);
  }

  /** To another router of this process. */
  sendControl(text: RawJson): void {
    this.#link?.open()?.control(text);
  }

  /** What the provider of its type says about a trigger. */
  sendVerdict(triggerId: string, error: RawJson | undefined): void {
    this.sendControl(rawJson({ kind: 'verdict', id: triggerId, error: error && byteStringToText(error) }));
  }

  /** The other router has handed a call to that worker. It says so before it sends the result. */
  nameWorker(slot: number, generation: number, worker: string): void {
    const wanted = this.#wanted.get(slot);
    if (wanted === undefined || wanted.generation !== generation) return;
    this.#wanted.delete(slot);
    wanted.handed(worker);
  }

  /** About an end of a channel that lies on one of the two engines. */
  sendChannel(flags: number, code: number, number: number, content: ByteString | Uint8Array): void {
    this.#link?.open()?.channel(flags, code, number, content);
  }

  readonly #sendShape = (number: number): boolean => {
    const sent = this.#sentShapes;
    if (sent?.[number] === 1) return true;
    const keyList = this.#compact.shapes.keyList(number);
    if (keyList === undefined) return false;
    this.#sentShapes = sent ?? new Uint8Array(SHAPES_MAX);
    this.#sentShapes[number] = 1;
    this.#link?.open()?.shape(number, keyList);
    return true;
  };

  /** Ends the session: what the engine sent makes no sense. */
  refuse(reason: string): void {
    this.#link?.refuse(reason);
  }

  #numberOf(functionId: string, frames: MessageBuffer): number {
    const known = this.#numbers.get(functionId);
    if (known !== undefined) return known;
    // A number may be reused: functions come and go for ever.
    if (this.#numbers.size === NAMES_MAX) this.#numbers.clear();
    const number = this.#numbers.size;
    this.#numbers.set(functionId, number);
    frames.name(number, functionId);
    return number;
  }
}

function sentForm(payload: Payload | undefined): Payload | undefined {
  return payload?.form === 'compact' ? payload : payload?.asJson();
}

function unreadableAnswer(payload: Payload): Payload | undefined {
  return outcomeOf(unreadablePayload('the answer of the function', payload)).error;
}

function originOf(request: RelayedCall, namesWorker: boolean): RawJson | undefined {
  const { trigger, isTrustedWork, isForRestricted, rights, isFromOutside, isJob, isInternal } = request;
  const { forwardedFor, onBehalfOf } = request;
  // A call on behalf of a restricted connection is one for it.
  const isRestricted = isForRestricted === true || rights !== undefined;
  const isPlain = trigger === undefined && !isTrustedWork && !isRestricted && !isFromOutside && !isJob && !isInternal;
  if (isPlain && forwardedFor === undefined && !namesWorker) return undefined;
  const origin: RelayedOrigin = {
    ...(trigger !== undefined && { trigger: { type: trigger.type, id: trigger.id } }),
    ...(isTrustedWork === true && { is_trusted_work: true }),
    ...(isRestricted && { is_for_restricted: true }),
    ...(isFromOutside === true && { is_from_outside: true }),
    ...(isJob === true && { is_job: true }),
    ...(isInternal === true && { is_internal: true }),
    ...(forwardedFor !== undefined && { for: forwardedFor }),
    ...(request.enqueue !== undefined && { enqueue: request.enqueue }),
    ...(namesWorker && { names_worker: true }),
    ...(onBehalfOf !== undefined && { on_behalf_of: onBehalfOf.workerId }),
  };
  return rawJson(origin);
}
