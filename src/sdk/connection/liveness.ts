// Detects a lost engine (W1, in the client's direction): sends a ping every 10 s, and ends the connection after 25 s of
// silence. Without this a half-open connection would swallow calls until their deadlines.

import type { PlatformClock } from '../worker/platform.ts';

const PING_MS = 10_000;
const SILENT_MS_MAX = 25_000;
const BLOCKED_MS = 1_000;

export interface MonitoredConnection {
  ping(): void;
  /** Nothing has arrived for too long. Called once, after the watch has ended. */
  onSilent(silentMs: number): void;
}

export class Liveness {
  readonly #clock: PlatformClock;
  readonly #connection: MonitoredConnection;
  #heardMs: number;
  #pingedMs: number;
  #cancel: () => void = () => {};

  constructor(clock: PlatformClock, connection: MonitoredConnection) {
    this.#clock = clock;
    this.#connection = connection;
    this.#heardMs = clock.monotonicMs();
    this.#pingedMs = this.#heardMs;
    this.#schedule(PING_MS);
  }

  /** Called for anything that arrives. */
  heard(nowMs: number): void {
    this.#heardMs = nowMs;
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(delayMs: number): void {
    const dueMs = this.#clock.monotonicMs() + delayMs;
    this.#cancel = this.#clock.after(delayMs, () => this.#look(dueMs));
  }

  #look(dueMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    const silentMs = nowMs - this.#heardMs;
    // A late timer means that this process was blocked. What the engine sent in the meantime is not read yet, so the
    // silence proves nothing: look again after the input has been handled.
    const wasBlocked = nowMs - dueMs > BLOCKED_MS;
    if (silentMs >= SILENT_MS_MAX && !wasBlocked) {
      this.#connection.onSilent(silentMs);
      return;
    }
    if (nowMs - this.#pingedMs >= PING_MS) {
      this.#pingedMs = nowMs;
      this.#connection.ping();
    }
    const untilSilentMs = Math.max(BLOCKED_MS, this.#heardMs + SILENT_MS_MAX - nowMs);
    this.#schedule(Math.min(this.#pingedMs + PING_MS - nowMs, untilSilentMs));
  }
}
