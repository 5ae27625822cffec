// Sockets that only bring telemetry. They never become workers, yet a dead one must not keep its place for ever: they
// are pinged and, when silent, ended like worker connections (W1).

import { OwnSilence } from '../../core/own-silence.ts';
import type { Clock } from '../../effects/clock.ts';
import { CLOSE_CODES } from '../../protocol/close-codes.ts';
import { PING_INTERVAL_MS, SILENCE_MS_MAX } from '../../router/housekeeping.ts';
import type { PeerSocket } from '../../transport/socket.ts';

const CHECK_INTERVAL_MS = 1_000;

interface Times {
  heardMs: number;
  pingedMs: number;
}

export class TelemetrySockets {
  readonly #clock: Clock;
  readonly #closedSilent: () => void;
  readonly #sockets = new Map<PeerSocket, Times>();
  #stop: (() => void) | undefined;

  /** `closedSilent` is told of each socket that was ended because nothing came from it. */
  constructor(clock: Clock, closedSilent: () => void) {
    this.#clock = clock;
    this.#closedSilent = closedSilent;
  }

  start(): void {
    const ownSilence = new OwnSilence(CHECK_INTERVAL_MS, this.#clock.monotonicMs());
    this.#stop = this.#clock.every(CHECK_INTERVAL_MS, () => this.#check(ownSilence));
  }

  /** Says goodbye to all of them. */
  stop(): void {
    this.#stop?.();
    for (const socket of [...this.#sockets.keys()]) socket.close(CLOSE_CODES.goingAway, 'the engine is shutting down');
  }

  add(socket: PeerSocket): void {
    const nowMs = this.#clock.monotonicMs();
    this.#sockets.set(socket, { heardMs: nowMs, pingedMs: nowMs });
  }

  /** Something came from it. */
  heard(socket: PeerSocket): void {
    const times = this.#sockets.get(socket);
    if (times !== undefined) times.heardMs = this.#clock.monotonicMs();
  }

  remove(socket: PeerSocket): void {
    this.#sockets.delete(socket);
  }

  #check(ownSilence: OwnSilence): void {
    const nowMs = this.#clock.monotonicMs();
    const ownSilenceMs = ownSilence.sinceLastCheck(nowMs);
    for (const [socket, times] of this.#sockets) {
      times.heardMs += ownSilenceMs;
      if (nowMs - times.heardMs > SILENCE_MS_MAX) {
        this.#closedSilent();
        socket.terminate();
      } else if (nowMs - times.pingedMs >= PING_INTERVAL_MS) {
        times.pingedMs = nowMs;
        socket.ping();
      }
    }
  }
}
