// Parts of the SDK that are files of their own, loaded when they are first used, so that what a page loads before its
// first call fits into one round trip (14 kB).
//
// L1  While a part is being loaded that incoming messages may need, they wait: they are handed on in the order in which
//     they came, and the end of the connection behind them.

import { REF_MARK } from '../sdk/channel-ref.ts';
import { isSvcError, SvcError } from '../sdk/errors.ts';
import type { SocketEvents } from '../sdk/platform.ts';

/** Loads a part; what can go wrong is told as an error of the SDK. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    if (isSvcError(cause)) throw cause;
    throw new SvcError('UNREACHABLE', `a part of svc-browser-sdk could not be loaded: ${cause}`, { cause });
  }
}

export class LateParts {
  /** Called for each message that may hold a reference to a channel. */
  onReference = (): void => {};
  /** Never rejects. */
  #loading: Promise<void> | undefined;

  /** Has messages wait for the part, or for the failure to get it. */
  awaitPart(load: () => Promise<void>, onFailed: (error: unknown) => void): void {
    const mine = Promise.all([loadPart(load).catch(onFailed), this.#loading]).then(() => {
      if (this.#loading === mine) this.#loading = undefined;
    });
    this.#loading = mine;
  }

  /** What stands between a worker's socket and whoever hears of it. */
  holdBack(events: SocketEvents): SocketEvents {
    let last: Promise<void> | undefined;
    const inOrder = (task: () => void): void => {
      if (last === undefined && this.#loading === undefined) {
        task();
        return;
      }
      const mine: Promise<void> = Promise.all([last, this.#loading]).then(() => {
        if (last === mine) last = undefined;
        task();
      });
      last = mine;
    };
    return {
      onMessage: (message) => {
        if (typeof message === 'string' && message.includes(REF_MARK)) this.onReference();
        inOrder(() => events.onMessage(message));
      },
      onAlive: () => events.onAlive(),
      onClose: (closure) => inOrder(() => events.onClose(closure)),
    };
  }
}
