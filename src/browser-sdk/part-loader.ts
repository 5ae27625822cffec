// Parts of the SDK in files of their own, loaded on first use, so that what a page loads before its first call fits
// into one round trip (14.6 kB). Channels are loaded when the first message arrives that may hold a reference to one.
//
// - While a part is loaded that incoming messages may need, they wait. They are then delivered in the order in which
//   they arrived, followed by the end of the connection.

import { isSvcError, SvcError } from '../sdk/calls/errors.ts';
import { REF_MARK } from '../sdk/channels/channel-ref.ts';
import type { Channel, Channels } from '../sdk/channels/channels.ts';
import type { ChannelsOfWorker } from '../sdk/worker/features.ts';
import type { Settings } from '../sdk/worker/options.ts';
import type { Platform, SocketEvents } from '../sdk/worker/platform.ts';

/** Loads a part; a failure becomes an error of the SDK. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    if (isSvcError(cause)) throw cause;
    throw new SvcError('UNREACHABLE', `a part of svc-browser-sdk could not be loaded: ${cause}`, { cause });
  }
}

export class PartLoader {
  /** Called for each message that may hold a reference to a channel. */
  onReference = (): void => {};
  /** Never rejects. */
  #loading: Promise<void> | undefined;

  /** Makes messages wait until the part is loaded or has failed to load. */
  awaitPart(load: () => Promise<void>, onFailed: (error: unknown) => void): void {
    const mine = Promise.all([loadPart(load).catch(onFailed), this.#loading]).then(() => {
      if (this.#loading === mine) this.#loading = undefined;
    });
    this.#loading = mine;
  }

  /** Wraps the events of a worker's socket, to hold back its messages. */
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

export class LateChannels implements ChannelsOfWorker {
  #channels: Channels | undefined;

  constructor(loader: PartLoader, platform: Platform, settings: Settings) {
    const load = async (): Promise<void> => {
      const { Channels } = await import('../sdk/channels/channels.ts');
      this.#channels ??= new Channels(platform, settings);
    };
    loader.onReference = () => {
      if (this.#channels !== undefined) return;
      loader.awaitPart(load, (error) => settings.log('error', `cannot open channel references: ${error}`));
    };
  }

  noteReference(): void {
    this.#channels?.noteReference();
  }

  revive(value: unknown): unknown {
    return this.#channels === undefined ? value : this.#channels.revive(value);
  }

  readCreated(answer: unknown): Channel {
    if (this.#channels !== undefined) return this.#channels.readCreated(answer);
    throw new SvcError('UNREACHABLE', 'a part of svc-browser-sdk could not be loaded');
  }

  async end(): Promise<void> {
    await this.#channels?.end();
  }
}
