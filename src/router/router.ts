// Frames of worker connections become verbs.
//
// Job: hold the sessions, read each frame, pick the verb. It knows no socket library and no module.
// Neighbours: `transport` delivers bytes and carries frames away; `engine.ts` builds it and plugs modules in.
// Invariants:
//   - Frames of one connection are handled in the order they arrived.
//   - A frame that cannot be read is logged, counted and dropped; its connection and all others stay open (wire 1.5).
//   - Nothing here waits: reading from one connection never depends on writing to another (I7).

import { isUtf8 } from 'node:buffer';
import { tokenOf } from '../core/cluster/reattach-token.ts';
import { equalSecrets } from '../effects/random.ts';
import { CLOSE_CODES } from '../protocol/frames/close-codes.ts';
import { type DecodeRefusal, decodeWorkerFrame } from '../protocol/frames/decode.ts';
import type { Reattach, WorkerFrame } from '../protocol/frames/frames.ts';
import { isBinaryForm, isCompactForm, SUBPROTOCOL_RECORDS, type Subprotocol } from '../protocol/frames/subprotocols.ts';
import type { RawJson } from '../protocol/json/byte-string.ts';
import { BinarySendQueue, type FlushQueue, TextSendQueue } from '../transport/send-queue.ts';
import type { PeerSocket, SocketEvents } from '../transport/socket.ts';
import { BinaryFrames } from './calls/binary-frames.ts';
import { handleInvoke, handleResult } from './calls/json-frames.ts';
import type { LargeFrames } from './calls/large-frames.ts';
import { refuseFrame } from './calls/refused-frames.ts';
import type { RouterContext } from './context.ts';
import { handleRegisterFunction, handleUnregisterFunction } from './registrations/functions.ts';
import { engineOfToken, isHeld, leaveIds, takeOver } from './remote/moved-workers.ts';
import type { Guard } from './restricted/guard.ts';
import { chargeMessage } from './restricted/guarded-calls.ts';
import { guardFrame } from './restricted/guarded-frames.ts';
import { Session, type SessionEnd, type SessionLimits } from './session/session.ts';
import { mayBeTelemetry, takeTelemetry } from './session/telemetry.ts';
import { BinaryWire, JsonWire } from './session/wire.ts';
import { closeSlow, withdraw } from './session/withdraw.ts';
import {
  handleRegisterTrigger,
  handleRegisterTriggerType,
  handleTriggerResult,
  handleUnregisterTrigger,
  handleUnregisterTriggerType,
} from './triggers/triggers.ts';

export interface NewConnection {
  readonly socket: PeerSocket;
  readonly remoteAddress: string;
  /** The form that the client asked for. Clients of `iii` ask for none. */
  readonly subprotocol: Subprotocol | undefined;
  readonly limits: SessionLimits;
  /** The checks for its frames; absent: the connection is fully trusted. */
  readonly guard?: Guard | undefined;
}

export class Router {
  readonly context: RouterContext;
  readonly #flushes: FlushQueue;
  readonly #largeFrames: LargeFrames;
  #generation = 0;

  constructor(context: RouterContext, flushes: FlushQueue, largeFrames: LargeFrames) {
    this.context = context;
    this.#flushes = flushes;
    this.#largeFrames = largeFrames;
  }

  /** Whether a worker of this address is connected to another router of this process. */
  isKnownElsewhere(address: string): boolean {
    const { otherRouters } = this.context;
    return [...otherRouters].some(({ workers }) => [...workers.values()].some((worker) => worker.address === address));
  }

  /** A worker connected. Returns what its transport has to call. */
  connect({ socket, remoteAddress, subprotocol, limits, guard }: NewConnection): SocketEvents {
    const { context } = this;
    const way = this.#wayOut(socket, subprotocol, limits, () => session);
    const session: Session = new Session({
      generation: ++this.#generation,
      workerId: context.random.uuid(),
      reattachToken: tokenOf(context.random.uuid(), context.engineId),
      isOwnSdk: subprotocol !== undefined,
      remoteAddress,
      connectedAtMs: context.clock.nowMs(),
      limits,
      guard,
      ...way,
      link: { ping: () => socket.ping(), disconnect: (end) => endSocket(socket, end) },
    });
    session.lastHeardMs = context.clock.monotonicMs();
    context.sessions.set(session.workerId, session);
    session.send({
      type: 'workerregistered',
      worker_id: session.workerId,
      reattach_token: session.reattachToken,
      ...(session.isOwnSdk && { in_flight_per_caller: limits.inFlightPerCaller }),
    });
    context.announce.workerEvent('worker_connected', session.workerId);
    return {
      message: this.#wayIn(session),
      heard: () => {
        session.lastHeardMs = context.clock.monotonicMs();
      },
      closed: (_code, isOverlong) => {
        if (isOverlong) this.#noteOverlong(session);
        withdraw(context, session, 'peer');
      },
    };
  }

  /** What the session sends through, in the form that its client asked for. */
  #wayOut(
    socket: PeerSocket,
    subprotocol: Subprotocol | undefined,
    limits: SessionLimits,
    sessionOf: () => Session,
  ): Pick<Session, 'sendQueue' | 'wire'> {
    const events = {
      dropped: () => this.#frameDropped(sessionOf()),
      overflowed: (bytes: number) => closeSlow(this.context, sessionOf(), bytes),
    };
    const options = { socket, flushes: this.#flushes, bytesMax: limits.outboundCloseBytes, events };
    if (isBinaryForm(subprotocol)) {
      const sendQueue = new BinarySendQueue(options);
      const { compact, messagePack } = this.context;
      const form = isCompactForm(subprotocol) ? compact : messagePack;
      return { sendQueue, wire: new BinaryWire(sendQueue, form, subprotocol === SUBPROTOCOL_RECORDS) };
    }
    const sendQueue = new TextSendQueue(options);
    return { sendQueue, wire: new JsonWire(sendQueue, subprotocol !== undefined) };
  }

  #wayIn(session: Session): SocketEvents['message'] {
    const { wire } = session;
    if (!(wire instanceof BinaryWire)) {
      return (bytes, isBinary) => {
        if (this.#hears(session)) this.#receiveJson(session, bytes, isBinary);
      };
    }
    const frames = new BinaryFrames(this.context, session, wire, (bytes) => this.#receiveControl(session, bytes));
    return (bytes, isBinary) => {
      if (!this.#hears(session)) return;
      if (isBinary) {
        if (!this.#takeTelemetry(session, bytes)) frames.receive(bytes);
      } else refuseFrame(this.context, session, bytes, 'a text frame on a connection that asked for the binary form');
    };
  }

  #hears(session: Session): boolean {
    session.lastHeardMs = this.context.clock.monotonicMs();
    return session.state === 'open';
  }

  #receiveJson(session: Session, bytes: Uint8Array, isBinary: boolean): void {
    if (isBinary) {
      if (this.#takeTelemetry(session, bytes)) return;
      // Text frames were checked by the socket library. Relayed text must be UTF-8 in every kind of frame.
      if (!isUtf8(bytes)) {
        refuseFrame(this.context, session, bytes, 'a binary frame that is neither telemetry nor UTF-8 text');
        return;
      }
    }
    if (isBlank(bytes)) return this.#charge(session);
    const take = (frame: WorkerFrame<RawJson> | DecodeRefusal, frameBytes: Uint8Array): void => {
      // The connection may have ended while a thread had its frame: the frame must not take effect now (W2).
      if (session.state === 'closed') this.context.counters.count('frames.dropped', 'connection_closed');
      else if (frame.type === 'refused') {
        refuseFrame(this.context, session, frameBytes, frame.reason, frame.concerns);
      } else this.#handle(session, frame);
    };
    if (!this.#largeFrames.take(session, bytes, take)) take(decodeWorkerFrame(bytes), bytes);
  }

  /** A JSON frame that came inside a binary message. */
  #receiveControl(session: Session, bytes: Uint8Array): void {
    if (session.state === 'closed') return;
    const frame = isUtf8(bytes) ? decodeWorkerFrame(bytes) : NOT_TEXT;
    if (frame.type === 'refused') refuseFrame(this.context, session, bytes, frame.reason);
    else if (frame.type === 'invokefunction' || frame.type === 'invocationresult') {
      refuseFrame(this.context, session, bytes, 'calls and results have messages of their own in the binary form');
    } else this.#handle(session, frame);
  }

  /** A message of the binary form begins with a length, and these letters exceed every valid length. */
  #takeTelemetry(session: Session, bytes: Uint8Array): boolean {
    const { observer, counters } = this.context;
    const taker = { observer, count: (name: string, reason: string) => counters.count(name, reason) };
    if (!mayBeTelemetry(bytes) || !takeTelemetry(taker, session.generation, bytes)) return false;
    this.#charge(session);
    return true;
  }

  /** Dropped messages count towards the message rate too. */
  #charge(session: Session): void {
    if (session.guard !== undefined) chargeMessage(this.context, session, session.guard);
  }

  #handle(session: Session, frame: WorkerFrame<RawJson>): void {
    const { guard } = session;
    if (guard === undefined) this.#act(session, frame);
    else guardFrame(this.context, session, guard, frame, (admitted) => this.#act(session, admitted));
  }

  #act(session: Session, frame: WorkerFrame<RawJson>): void {
    const { context } = this;
    if (isHeld(session, frame)) return;
    switch (frame.type) {
      case 'invokefunction':
        return handleInvoke(context, session, frame);
      case 'invocationresult':
        return handleResult(context, session, frame);
      case 'registerfunction':
        return handleRegisterFunction(context, session, frame);
      case 'unregisterfunction':
        return handleUnregisterFunction(context, session, frame);
      case 'registertrigger':
        return handleRegisterTrigger(context, session, frame);
      case 'unregistertrigger':
        return handleUnregisterTrigger(context, session, frame);
      case 'registertriggertype':
        return handleRegisterTriggerType(context, session, frame);
      case 'unregistertriggertype':
        return handleUnregisterTriggerType(context, session, frame);
      case 'triggerregistrationresult':
        return handleTriggerResult(context, session, frame);
      case 'reattach':
        return this.#reattach(session, frame);
      case 'draining':
        session.isLeaving = true;
        return;
      case 'ping':
        return this.#pong(session);
      case 'pong':
      case 'registerservice':
        // A pong needs no answer; services of old clients have no effect (wire 3.1).
        return;
    }
  }

  /** After its ping a connection relies on what it registered: every router knows it by then. */
  #pong(session: Session): void {
    const { whenOthersKnow, moves } = this.context;
    // Its registrations wait for its old engine.
    if (session.heldRegistrations !== undefined) {
      return void Promise.all([...moves].map(({ done }) => done)).then(() => this.#pong(session));
    }
    const answer = (): void => {
      if (session.state !== 'closed') session.send({ type: 'pong' });
    };
    if (whenOthersKnow === undefined) answer();
    else whenOthersKnow(answer);
  }

  /** The sender claims to be the same worker as an earlier connection: that one is ended first (wire 1.9). */
  #reattach(session: Session, frame: Reattach): void {
    const { context } = this;
    const previous = context.sessions.get(frame.previous_worker_id);
    const token = frame.reattach_token ?? '';
    const engine = previous === undefined ? engineOfToken(context, token) : undefined;
    if (engine !== undefined) {
      return takeOver(context, session, { engine, reattach: frame }, (held) => this.#act(session, held));
    }
    const isProven = previous !== undefined && equalSecrets(token, previous.reattachToken);
    if (!isProven || previous === session) {
      context.counters.count('reattach.refused');
      context.logger.warn('Reattach ignored', { worker: session.displayName, known: previous !== undefined });
      return;
    }
    const end: SessionEnd = { code: CLOSE_CODES.replaced, reason: 'replaced by a newer connection of the same worker' };
    leaveIds(context, previous, session.workerId);
    withdraw(context, previous, end);
  }

  #noteOverlong(session: Session): void {
    this.context.counters.count('connections.closed', 'message_too_big');
    this.context.logger.warn('Connection closed: a message of the worker is over limits.trusted.frame_bytes', {
      worker: session.displayName,
    });
  }

  #frameDropped(session: Session): void {
    this.context.counters.count('connections.closed', 'frame_dropped');
    withdraw(this.context, session, 'terminate');
  }
}

const NOT_TEXT: DecodeRefusal = { type: 'refused', reason: 'not UTF-8 text' };

function endSocket(socket: PeerSocket, end: SessionEnd): void {
  if (end === 'terminate') socket.terminate();
  else if (end !== 'peer') socket.close(end.code, end.reason);
}

function isBlank(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
