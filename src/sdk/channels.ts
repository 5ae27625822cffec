// Channels of a worker: makes them, turns references into live ends before anybody sees them, and ends what is left of
// them when the worker shuts down.
//
// A message is searched for references only if its text holds the mark they all have, or one of its shapes the key.
// Whether it does is seen by the wire that reads the message: so a call without a reference costs one look through its
// text.

import { ChannelReader } from './channel-reader.ts';
import { type ChannelRef, replaceRefs } from './channel-ref.ts';
import type { ChannelWorld, LiveEnd } from './channel-socket.ts';
import { ChannelWriter } from './channel-writer.ts';
import { SvcError } from './errors.ts';
import type { ChannelsOfWorker } from './features.ts';
import type { Settings } from './options.ts';
import type { Platform } from './platform.ts';

/**
 * Options of `createChannel`.
 *
 * @example
 * import { registerWorker, type ChannelOptions } from 'svc-sdk';
 *
 * const options: ChannelOptions = { buffer_size: 16 };
 * const { writer } = await registerWorker().createChannel(options);
 * await writer.close();
 */
export interface ChannelOptions {
  /** How many frames may be on their way to a reader that has not taken them: 1 to 1024. Default 64. */
  readonly buffer_size?: number | undefined;
}

/**
 * A pipe for bytes and texts from one worker to another. Use one end here and send the reference of the other in a
 * payload or a result. A channel is dropped if one of its ends is not used within five minutes.
 *
 * @example
 * import { registerWorker, type Channel } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const channel: Channel = await svc.createChannel();
 * const size = svc.trigger({ function_id: 'files::size', payload: { from: channel.readerRef } });
 * await channel.writer.write(new Uint8Array(10_000_000));
 * await channel.writer.close();
 * console.log(await size);
 */
export interface Channel {
  readonly writer: ChannelWriter;
  readonly reader: ChannelReader;
  readonly writerRef: ChannelRef;
  readonly readerRef: ChannelRef;
}

export class Channels implements ChannelsOfWorker {
  readonly #world: ChannelWorld;
  readonly #live = new Set<LiveEnd>();
  /** Waits for the last of them to go. */
  #whenIdle: () => void = () => {};
  /** Text with the mark in it has come in since the last value was handed on. */
  #sawMark = false;

  constructor(platform: Platform, settings: Settings) {
    const live = {
      enter: (end: LiveEnd) => void this.#live.add(end),
      leave: (end: LiveEnd) => {
        this.#live.delete(end);
        if (this.#live.size === 0) this.#whenIdle();
      },
    };
    this.#world = { platform, settings, live };
  }

  /** A message is being read that may hold a reference. */
  readonly noteReference = (): void => {
    this.#sawMark = true;
  };

  /** A payload or a result that has just been read, with live ends in place of references. */
  revive(value: unknown): unknown {
    if (!this.#sawMark) return value;
    this.#sawMark = false;
    return replaceRefs(value, (ref) =>
      ref.direction === 'read' ? new ChannelReader(this.#world, ref) : new ChannelWriter(this.#world, ref),
    );
  }

  /** The channel in the engine's answer. */
  readCreated(answer: unknown): Channel {
    if (typeof answer === 'object' && answer !== null && 'writer' in answer && 'reader' in answer) {
      const { writer, reader } = answer;
      if (writer instanceof ChannelWriter && reader instanceof ChannelReader) {
        return { writer, reader, writerRef: writer.ref, readerRef: reader.ref };
      }
    }
    throw new SvcError('UNKNOWN', 'createChannel: the engine answered with something that is no channel');
  }

  /** Ends every connection of an end; what was written and closed has a moment to leave. */
  async end(): Promise<void> {
    const error = new SvcError('SHUTDOWN', 'this worker was shut down');
    for (const end of [...this.#live]) if (!end.isClosing()) end.fail(error);
    if (this.#live.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#world.platform.clock.after(GOODBYE_MS_MAX, resolve);
      this.#whenIdle = () => {
        cancel();
        resolve();
      };
    });
    for (const end of [...this.#live]) end.fail(error);
  }
}

const GOODBYE_MS_MAX = 1_000;
