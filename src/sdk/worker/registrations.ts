// The registrations of this worker: sent when they are made, sent again on every new connection (W4), and reported when
// the engine refuses one.
//
// Neighbours: `worker.ts` makes registrations and reports changes of the connection, `trigger-types.ts` and
// `incoming-calls.ts` look up their providers and handlers.
//
// - The engine sends no acknowledgement, so silence is acceptance. `ready` sends a question after the registration; the
//   answer proves that the registration was read, because frames of one connection are applied in order.
// - A refusal is reported at least once: to callers that await `ready`, to listeners of `rejected`, or else in the log.
// - A refused registration stays: the engine on the next connection may accept it.

import { HEADER_BYTES } from '../../protocol/binary/binary-layout.ts';
import type { RegisterFunction, RegisterTrigger, RegisterTriggerType } from '../../protocol/frames/frames.ts';
import { SvcError } from '../calls/errors.ts';
import type { Run } from '../calls/invocation.ts';
import type { Link } from '../connection/link.ts';
import type { TriggerTypeProvider } from '../triggers/trigger-definition.ts';
import { encodeFrame, exceedsUtf8, type SentFrame, utf8Length } from '../wire/wire.ts';
import type { EventListeners, Rejection } from './events.ts';
import type { Settings } from './options.ts';

export class Registrations {
  readonly functions = new Map<string, FunctionRegistration>();
  readonly triggers = new Map<string, Registration<RegisterTrigger<unknown>>>();
  readonly triggerTypes = new Map<string, TriggerTypeRegistration>();
  readonly #settings: Settings;
  readonly #events: EventListeners;
  #link: Link | undefined;
  /** Set by a shutdown: a connection that returns during it must not offer the functions again. */
  #isWithdrawn = false;

  constructor(settings: Settings, events: EventListeners) {
    this.#settings = settings;
    this.#events = events;
  }

  addFunction(frame: RegisterFunction<unknown>, run: Run): FunctionRegistration {
    const registration = new FunctionRegistration('function', frame, this.#encode(frame), run);
    this.#add(this.functions, registration);
    return registration;
  }

  addTrigger(frame: RegisterTrigger<unknown>): Registration<RegisterTrigger<unknown>> {
    const registration = new Registration('trigger', frame, this.#encode(frame));
    this.#add(this.triggers, registration);
    return registration;
  }

  addTriggerType(frame: RegisterTriggerType<unknown>, provider: TriggerTypeProvider): TriggerTypeRegistration {
    const registration = new TriggerTypeRegistration('trigger type', frame, this.#encode(frame), provider);
    this.#add(this.triggerTypes, registration);
    return registration;
  }

  /** Withdraws one; does nothing if it was withdrawn before. */
  remove({ frame }: Registration<RegistrationFrame>): void {
    const { type, id } = frame;
    const among =
      type === 'registerfunction' ? this.functions : type === 'registertrigger' ? this.triggers : this.triggerTypes;
    if (among.delete(id)) this.#withdraw(frame);
  }

  /** Triggers leave first, so that no event finds its function gone. Types stay: their triggers belong to others. */
  withdrawWork(): void {
    this.#isWithdrawn = true;
    for (const { frame } of [...this.triggers.values(), ...this.functions.values()]) this.#withdraw(frame);
  }

  connectionUp(link: Link): void {
    this.#link = link;
    const offered = this.#isWithdrawn ? [this.triggerTypes] : [this.triggerTypes, this.functions, this.triggers];
    for (const table of offered) {
      for (const registration of table.values()) {
        registration.refusal = undefined;
        link.sendFrame(registration.message);
      }
    }
  }

  connectionLost(): void {
    this.#link = undefined;
  }

  #add<R extends Registration<RegistrationFrame>>(table: Map<string, R>, registration: R): void {
    const { subject, frame, message } = registration;
    if (this.#isWithdrawn) throw new SvcError('SHUTDOWN', `${subject} '${frame.id}': this worker is shutting down`);
    if (table.has(frame.id)) {
      const text = `${subject} '${frame.id}' is already registered by this worker; unregister it first`;
      throw new SvcError('INVALID_ARGUMENTS', text);
    }
    table.set(frame.id, registration);
    this.#link?.sendFrame(message);
  }

  /** Encoded once: every connection gets the values of the time when the registration was made. */
  #encode(frame: RegistrationFrame): string {
    let message: string;
    try {
      message = encodeFrame(frame);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new SvcError('INVALID_ARGUMENTS', `'${frame.id}' cannot be registered: ${why}`, { cause });
    }
    // In the binary form a frame has a header of its own; which form it will leave in is not known yet.
    if (!exceedsUtf8(message, this.#settings.frameBytesMax - HEADER_BYTES.control)) return message;
    const text = `${utf8Length(message)} bytes, frame_bytes_max is ${this.#settings.frameBytesMax}`;
    throw new SvcError('PAYLOAD_TOO_LARGE', `'${frame.id}' cannot be registered: its registration takes ${text}`);
  }

  /** Handles a refusal of the engine for the id. */
  refuse(among: 'functions' | 'triggers' | 'triggerTypes', id: string, code: string, message: string): void {
    const registration = this[among].get(id);
    const text = `the engine refused the ${nameOf(registration, id)}: ${code}: ${message}`;
    if (registration === undefined) {
      this.#settings.log('error', text);
      return;
    }
    if (registration.refusal?.message === message) return;
    registration.refusal = { code, message };
    const wasHeard = registration.isAwaited || this.#events.has('rejected');
    const rejection: Rejection = { subject: registration.subject, id, error: new SvcError(code, text) };
    this.#events.emit('rejected', rejection);
    if (wasHeard || registration.isLogged) return;
    registration.isLogged = true;
    this.#settings.log('error', text);
  }

  #withdraw(frame: RegistrationFrame): void {
    const { id } = frame;
    if (frame.type === 'registertrigger') {
      this.#send({ type: 'unregistertrigger', id, trigger_type: frame.trigger_type });
    } else this.#send({ type: `un${frame.type}`, id });
  }

  #send(frame: SentFrame): void {
    this.#link?.sendFrame(encodeFrame(frame));
  }
}

/** One registration, and the engine's refusal on the current connection, if any. */
export class Registration<Frame extends RegistrationFrame> {
  readonly subject: Subject;
  readonly frame: Frame;
  /** The frame as it is sent. */
  readonly message: string;
  refusal: { readonly code: string; readonly message: string } | undefined;
  /** Whether a caller awaits `ready` and so learns of a refusal. */
  isAwaited = false;
  /** One line per registration, however often it is refused. */
  isLogged = false;

  constructor(subject: Subject, frame: Frame, message: string) {
    this.subject = subject;
    this.frame = frame;
    this.message = message;
  }

  /** Resolves when the engine has read the registration; `roundTrip` resolves when it has answered a new question. */
  async ready(roundTrip: () => Promise<void>): Promise<void> {
    this.isAwaited = true;
    if (this.refusal === undefined) await roundTrip();
    if (this.refusal === undefined) return;
    const { code, message } = this.refusal;
    throw new SvcError(code, `the engine refused the ${this.subject} '${this.frame.id}': ${message}`);
  }
}

export class FunctionRegistration extends Registration<RegisterFunction<unknown>> {
  readonly run: Run;

  constructor(subject: Subject, frame: RegisterFunction<unknown>, message: string, run: Run) {
    super(subject, frame, message);
    this.run = run;
  }
}

export class TriggerTypeRegistration extends Registration<RegisterTriggerType<unknown>> {
  readonly provider: TriggerTypeProvider;

  constructor(subject: Subject, frame: RegisterTriggerType<unknown>, message: string, provider: TriggerTypeProvider) {
    super(subject, frame, message);
    this.provider = provider;
  }
}

type Subject = 'function' | 'trigger' | 'trigger type';
type RegistrationFrame = RegisterFunction<unknown> | RegisterTrigger<unknown> | RegisterTriggerType<unknown>;

/** Of a trigger, whose id says nothing to a user, its type and its function. */
function nameOf(registration: Registration<RegistrationFrame> | undefined, id: string): string {
  const { frame, subject = 'registration' } = registration ?? {};
  if (frame?.type !== 'registertrigger') return `${subject} '${id}'`;
  return `${frame.trigger_type} trigger of '${frame.function_id}'`;
}
