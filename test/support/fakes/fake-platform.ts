// The platform of an SDK worker, controlled by the test: time passes only when a test advances it, and a socket is two
// queues that the test empties. Nothing here opens a port, reads a file or waits.

import { AsyncLocalStorage } from 'node:async_hooks';
import { SUBPROTOCOL_RECORDS } from '../../../src/protocol/frames/subprotocols.ts';
import type { TraceCarrier } from '../../../src/sdk/calls/trace-context.ts';
import { nodeMemory } from '../../../src/sdk/node/memory-node.ts';
import type {
  ContextStorage,
  HostDescription,
  LogLevel,
  Platform,
  PlatformClock,
  PlatformSocket,
  SocketClosure,
  SocketEvents,
  SocketRequest,
  TerminationSignal,
  TerminationSignals,
} from '../../../src/sdk/worker/platform.ts';
import { BinaryEngine, type JsonFrame } from '../../unit/sdk/wire/binary-engine.ts';

export class FakePlatform implements Platform {
  readonly clock = new FakeClock();
  readonly signals = new FakeSignals();
  readonly memory = nodeMemory;
  readonly setsHeaders = true;
  readonly sockets: FakeSocket[] = [];
  readonly logs: { readonly level: LogLevel; readonly message: string }[] = [];
  /** The next and all later values of the random source. */
  nextRandom = 0.5;
  /** The form that the engine selects: the first offered one by default. */
  selects: string | undefined;
  /** The value of SVC_WIRE. */
  wire: string | undefined;
  #uuids = 0;

  readonly random = (): number => this.nextRandom;
  readonly uuid = (): string => `00000000-0000-4000-8000-${String(++this.#uuids).padStart(12, '0')}`;

  openSocket(request: SocketRequest, events: SocketEvents): PlatformSocket {
    const socket = new FakeSocket(request, events, this.selects);
    this.sockets.push(socket);
    return socket;
  }

  createContextStorage(): ContextStorage<TraceCarrier> {
    const storage = new AsyncLocalStorage<TraceCarrier>();
    return {
      run: (value, run, first, second) => storage.run(value, run, first, second),
      current: () => storage.getStore(),
    };
  }

  writeLog(level: LogLevel, message: string): void {
    this.logs.push({ level, message });
  }

  requestedWire(): string | undefined {
    return this.wire;
  }

  describeHost(): HostDescription {
    return { runtime: 'fake', name: 'fake-host:1', os: 'fake 1.0 (test)', pid: 1 };
  }

  /** The last dial. */
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error('nothing was dialled');
    return socket;
  }

  /** Lets promises and the ends of turns come to rest. No time passes. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_ROUNDS; quiet++) {
      await Promise.resolve();
      if (this.clock.endTurn()) quiet = 0;
    }
  }

  /** Moves time and lets everything that follows from it happen. */
  async pass(durationMs: number): Promise<void> {
    await this.settle();
    this.clock.advance(durationMs);
    await this.settle();
  }

  /** Plays the engine up to the moment where the worker is connected. */
  async connect(workerId = 'w-1', callsMax?: number): Promise<FakeSocket> {
    const { socket } = this;
    const registered = { type: 'workerregistered', worker_id: workerId, reattach_token: `token of ${workerId}` };
    socket.say({ ...registered, ...(callsMax !== undefined && { in_flight_per_caller: callsMax }) });
    await this.settle();
    return socket;
  }
}

/** Longest chain of promises between two things a test looks at. */
const QUIET_ROUNDS = 30;

export class FakeClock implements PlatformClock {
  #nowMs = 1_000;
  #timers: { readonly dueMs: number; readonly task: () => void; readonly holdsProcess: boolean }[] = [];
  #turnEnd: (() => void)[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return WALL_OFFSET_MS + this.#nowMs;
  }

  after(delayMs: number, task: () => void, kind?: 'dial'): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, task, holdsProcess: kind === 'dial' };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  afterTurn(task: () => void): void {
    this.#turnEnd.push(task);
  }

  /** Runs what was left for the end of the turn; false if there was nothing. */
  endTurn(): boolean {
    const tasks = this.#turnEnd;
    this.#turnEnd = [];
    for (const task of tasks) task();
    return tasks.length > 0;
  }

  /** Runs every timer on the way, each at its own moment. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      const next = this.#timers.filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.task();
    }
    this.#nowMs = endMs;
  }

  /** Time passes and nothing runs, as when a handler blocks the process. */
  block(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  get timerCount(): number {
    return this.#timers.length;
  }

  /** Timers that keep the process alive. */
  get holdingCount(): number {
    return this.#timers.filter(({ holdsProcess }) => holdsProcess).length;
  }
}

/** So that no test passes by mixing up the two clocks. */
const WALL_OFFSET_MS = 1_700_000_000_000;

/** Tests speak in frames of the JSON form, whichever form the connection has. */
export class FakeSocket implements PlatformSocket {
  readonly request: SocketRequest;
  readonly subprotocol: string;
  readonly #binary: BinaryEngine | undefined;
  readonly #events: SocketEvents;
  /** On its way to the engine: taken by `take`. */
  #toEngine: JsonFrame[] = [];
  /** On its way to the worker: delivered by `flush`. */
  #toWorker: object[] = [];
  #isOpen = true;
  /** How many times the worker wrote to the socket. */
  writes = 0;
  /** Frames of telemetry, which either form of the wire may bring. */
  readonly telemetry: { readonly kind: string; readonly body: unknown }[] = [];
  pings = 0;
  /** Pretends that the operating system has not taken this much yet. */
  buffered = 0;
  /** How the worker asked for the end. */
  ending: 'terminate' | { readonly code: number; readonly reason: string } | undefined;

  constructor(request: SocketRequest, events: SocketEvents, subprotocol = request.subprotocols[0] ?? '') {
    this.request = request;
    this.subprotocol = subprotocol;
    this.#binary = subprotocol === SUBPROTOCOL_RECORDS ? new BinaryEngine() : undefined;
    this.#events = events;
  }

  // What the worker calls

  sendTexts(texts: readonly string[]): void {
    if (this.#binary !== undefined) throw new Error('texts on a connection of the binary form');
    this.writes++;
    for (const text of texts) this.#toEngine.push(JSON.parse(text));
  }

  sendBytes(memory: Uint8Array, start: number, end: number): boolean {
    const text = Buffer.from(memory.subarray(start, end)).toString();
    if (/^(OTLP|MTRC|LOGS)\{/.test(text)) {
      this.telemetry.push({ kind: text.slice(0, 4), body: JSON.parse(text.slice(4)) });
      memory.fill(0xee);
      return true;
    }
    if (this.#binary === undefined) throw new Error('bytes on a connection of the JSON form');
    this.writes++;
    this.#toEngine.push(...this.#binary.read(Buffer.from(memory.subarray(start, end))));
    // The worker may reuse the memory now, so a later read of the old bytes would fail the test.
    memory.fill(0xee);
    return true;
  }

  ping(): void {
    this.pings++;
  }

  close(code: number, reason: string): void {
    this.ending = { code, reason };
  }

  terminate(): void {
    this.ending = 'terminate';
  }

  bufferedBytes(): number {
    return this.buffered;
  }

  // What the test calls

  /** All frames the worker has sent since the last time. */
  take(): JsonFrame[] {
    const frames = this.#toEngine;
    this.#toEngine = [];
    return frames;
  }

  /** The frames of one type among them; the others are dropped. */
  takeType(type: string): JsonFrame[] {
    return this.take().filter((frame) => frame.type === type);
  }

  /** Puts a frame on its way. */
  deliver(frame: object): void {
    this.#toWorker.push(frame);
  }

  /** Lets what is on its way arrive, in one go. */
  flush(): void {
    const frames = this.#toWorker;
    this.#toWorker = [];
    if (this.#binary !== undefined) {
      if (this.#isOpen) this.sayBytes(this.#binary.write(frames.map((frame) => ({ ...frame }))));
      return;
    }
    for (const frame of frames) if (this.#isOpen) this.#events.onMessage(JSON.stringify(frame));
  }

  /** Puts a frame on its way and lets it arrive. */
  say(frame: object): void {
    this.deliver(frame);
    this.flush();
  }

  /** Any text at all arrives. */
  sayText(text: string): void {
    this.#events.onMessage(text);
  }

  /** Any bytes at all arrive; they are gone when they have been handled, as those of a socket are. */
  sayBytes(bytes: Uint8Array): void {
    this.#events.onMessage(bytes);
    bytes.fill(0xee);
  }

  /** A ping or pong arrives. */
  beAlive(): void {
    this.#events.onAlive();
  }

  /** The connection is gone, with everything still on its way. */
  drop(closure: Partial<SocketClosure> = {}): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#events.onClose({ code: 1006, reason: 'cut', ...closure });
  }
}

export class FakeSignals implements TerminationSignals {
  readonly #listeners = new Set<(signal: TerminationSignal) => void>();
  readonly raised: TerminationSignal[] = [];

  listen(listener: (signal: TerminationSignal) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  raise(signal: TerminationSignal): void {
    this.raised.push(signal);
  }

  send(signal: TerminationSignal): void {
    for (const listener of [...this.#listeners]) listener(signal);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }
}
