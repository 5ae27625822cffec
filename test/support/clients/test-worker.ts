// A worker of an engine in memory. The test makes it register, call, answer, read and leave.

import type { SocketEvents } from '../../../src/transport/socket.ts';
import type { FakeClock } from '../fakes/fake-clock.ts';
import type { FakeSocket, ReceivedFrame } from '../fakes/fake-socket.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface TestWorkerOptions {
  readonly clock: FakeClock;
  readonly socket: FakeSocket;
  readonly events: SocketEvents;
  readonly nextId: () => string;
}

export class TestWorker {
  readonly socket: FakeSocket;
  readonly workerId: string;
  readonly reattachToken: string;
  readonly #clock: FakeClock;
  readonly #events: SocketEvents;
  readonly #nextId: () => string;

  constructor({ clock, socket, events, nextId }: TestWorkerOptions) {
    this.#clock = clock;
    this.socket = socket;
    this.#events = events;
    this.#nextId = nextId;
    socket.whenEnded = (code) => events.closed(code);
    const [greeting] = this.received('workerregistered');
    this.workerId = textOf(greeting, 'worker_id');
    this.reattachToken = textOf(greeting, 'reattach_token');
  }

  // What it sends

  /** A frame as an object, as text or as bytes. */
  send(frame: Fields | string | Uint8Array): void {
    this.#deliver(frame, false);
  }

  sendBinary(frame: Fields | string | Uint8Array): void {
    this.#deliver(frame, true);
  }

  register(id: string, facts: Fields = {}): void {
    this.send({ type: 'registerfunction', id, ...facts });
  }

  unregister(id: string): void {
    this.send({ type: 'unregisterfunction', id });
  }

  /** Makes a call that expects an answer; returns the id of the answer. */
  invoke(functionId: string, data: unknown = {}, fields: Fields = {}): string {
    const invocationId = this.#nextId();
    this.send({ type: 'invokefunction', invocation_id: invocationId, function_id: functionId, data, ...fields });
    return invocationId;
  }

  /** Makes a fire-and-forget call. */
  invokeVoid(functionId: string, data: unknown = {}, fields: Fields = {}): void {
    this.send({ type: 'invokefunction', function_id: functionId, data, action: { type: 'void' }, ...fields });
  }

  /** Answers a call it received. */
  result(call: ReceivedFrame, result?: unknown, fields: Fields = {}): void {
    const { invocation_id, function_id } = call;
    this.send({ type: 'invocationresult', invocation_id, function_id, result, ...fields });
  }

  fail(call: ReceivedFrame, error: unknown): void {
    this.result(call, undefined, { error });
  }

  provideType(id: string, fields: Fields = {}): void {
    this.send({ type: 'registertriggertype', id, description: `Type ${id}`, ...fields });
  }

  bind(id: string, triggerType: string, functionId: string, fields: Fields = {}): void {
    const ids = { id, trigger_type: triggerType, function_id: functionId };
    this.send({ type: 'registertrigger', ...ids, config: {}, ...fields });
  }

  unbind(id: string): void {
    this.send({ type: 'unregistertrigger', id });
  }

  /** Judges a binding it received as the provider of its type; without `error` it accepts. */
  judge(binding: ReceivedFrame, error?: unknown): void {
    const { id, trigger_type, function_id } = binding;
    this.send({ type: 'triggerregistrationresult', id, trigger_type, function_id, error });
  }

  announce(profile: Fields): void {
    this.invokeVoid('engine::workers::register', profile);
  }

  /** Says that it is the same worker as an earlier connection. */
  reattach(previous: TestWorker, token: string | undefined = previous.reattachToken): void {
    this.send({ type: 'reattach', previous_worker_id: previous.workerId, reattach_token: token });
  }

  /** A WebSocket ping or pong of its own. */
  sign(): void {
    this.#events.heard();
  }

  /** Its connection breaks. */
  drop(): void {
    this.socket.markClosed();
    this.#events.closed(1006);
    this.#clock.flush();
  }

  // What it receives

  /** The frames since the last look; with `type`, and then nothing else may have come. */
  received(type?: string): ReceivedFrame[] {
    this.#clock.flush();
    const frames = this.socket.takeFrames();
    const stranger = type === undefined ? undefined : frames.find((frame) => frame.type !== type);
    if (stranger !== undefined) throw new Error(`Expected ${type}, received ${JSON.stringify(stranger)}`);
    return frames;
  }

  /** The one frame since the last look. */
  receivedOne(type: string): ReceivedFrame {
    const frames = this.received();
    const [frame] = frames;
    if (frame?.type === type && frames.length === 1) return frame;
    throw new Error(`Expected one ${type}, received ${JSON.stringify(frames)}`);
  }

  /** The one call since the last look. */
  nextCall(): ReceivedFrame {
    return this.receivedOne('invokefunction');
  }

  /** Every answer that ever came for a call of its own. */
  answersTo(invocationId: string): ReceivedFrame[] {
    this.#clock.flush();
    return this.socket
      .allFrames()
      .filter((frame) => frame.type === 'invocationresult' && frame.invocation_id === invocationId);
  }

  /** The one answer to a call of its own. */
  answerTo(invocationId: string): ReceivedFrame {
    const answers = this.answersTo(invocationId);
    const [answer] = answers;
    if (answer !== undefined && answers.length === 1) return answer;
    throw new Error(`Expected one answer, received ${JSON.stringify(answers)}`);
  }

  /** Code of the error with which a call of its own ended. */
  errorCodeOf(invocationId: string): string {
    return textOf(this.#errorOf(invocationId), 'code');
  }

  errorMessageOf(invocationId: string): string {
    return textOf(this.#errorOf(invocationId), 'message');
  }

  /** Calls a built-in function that answers at once. */
  ask(functionId: string, payload: unknown = {}): unknown {
    return this.answerTo(this.invoke(functionId, payload)).result;
  }

  #errorOf(invocationId: string): object {
    const { error } = this.answerTo(invocationId);
    if (typeof error === 'object' && error !== null) return error;
    throw new Error(`The call did not fail: ${JSON.stringify(this.answerTo(invocationId))}`);
  }

  #deliver(frame: Fields | string | Uint8Array, isBinary: boolean): void {
    const text = frame instanceof Uint8Array || typeof frame === 'string' ? frame : JSON.stringify(frame);
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text.slice();
    this.#events.message(bytes, isBinary);
    // The library reuses its buffer, so a view that is read later shows other bytes.
    bytes.fill(0x78);
  }
}

function textOf(value: object | undefined, field: string): string {
  const found: unknown = value === undefined ? undefined : Reflect.get(value, field);
  if (typeof found === 'string') return found;
  throw new Error(`No text in '${field}' of ${JSON.stringify(value)}`);
}
