// Sockets that only bring telemetry. They never become workers, but a dead one must not keep its place for ever: they
// are pinged and, when silent, closed like worker connections (W1).

import type { MessageRate } from '../../core/limits/message-rate.ts';
import type { Clock } from '../../effects/clock.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { RouterPort } from '../../router/port.ts';
import {
  LIVENESS_CHECK_INTERVAL_MS,
  OwnSilence,
  PING_INTERVAL_MS,
  SILENT_MS,
} from '../../router/session/housekeeping.ts';
import { takeTelemetry } from '../../router/session/telemetry.ts';
import type { PeerSocket, SocketEvents } from '../../transport/socket.ts';

interface Times {
  heardMs: number;
  pingedMs: number;
}

export class TelemetrySockets {
  readonly #clock: Clock;
  readonly #router: RouterPort;
  readonly #sockets = new Map<PeerSocket, Times>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock, router: RouterPort) {
    this.#clock = clock;
    this.#router = router;
  }

  start(): void {
    const ownSilence = new OwnSilence(LIVENESS_CHECK_INTERVAL_MS, this.#clock.monotonicMs());
    this.#stop = this.#clock.every(LIVENESS_CHECK_INTERVAL_MS, () => this.#check(ownSilence));
  }

  /** Closes all of them. */
  stop(): void {
    this.#stop?.();
    for (const socket of [...this.#sockets.keys()]) socket.close(CLOSE_CODES.goingAway, 'the engine is shutting down');
  }

  /** `rate`: of its messages; `undefined`: unlimited. Returns the handlers for its transport. */
  take(socket: PeerSocket, rate: MessageRate | undefined): SocketEvents {
    const [clock, router] = [this.#clock, this.#router];
    const nowMs = clock.monotonicMs();
    this.#sockets.set(socket, { heardMs: nowMs, pingedMs: nowMs });
    const source = router.observer?.newSource() ?? 0;
    return {
      message: (bytes, isBinary) => {
        this.#heard(socket);
        const verdict = rate?.take(clock.monotonicMs()) ?? 'ok';
        if (verdict === 'flood') socket.close(CLOSE_CODES.tooManyMessages, 'too many messages for 10 s');
        if (verdict !== 'ok') return router.count('messages.refused', 'RATE_LIMITED');
        if (!isBinary || !takeTelemetry(router, source, bytes)) router.count('telemetry.dropped', 'unknown_prefix');
      },
      heard: () => this.#heard(socket),
      closed: (_code, isOverlong) => {
        this.#sockets.delete(socket);
        router.observer?.sourceLeft(source);
        if (isOverlong) router.count('connections.closed', 'message_too_big');
      },
    };
  }

  #heard(socket: PeerSocket): void {
    const times = this.#sockets.get(socket);
    if (times !== undefined) times.heardMs = this.#clock.monotonicMs();
  }

  #check(ownSilence: OwnSilence): void {
    const nowMs = this.#clock.monotonicMs();
    const ownSilenceMs = ownSilence.sinceLastCheck(nowMs);
    for (const [socket, times] of this.#sockets) {
      times.heardMs += ownSilenceMs;
      if (nowMs - times.heardMs >= SILENT_MS) {
        this.#router.count('connections.closed', 'silent_telemetry');
        socket.terminate();
      } else if (nowMs - times.pingedMs >= PING_INTERVAL_MS) {
        times.pingedMs = nowMs;
        socket.ping();
      }
    }
  }
}
