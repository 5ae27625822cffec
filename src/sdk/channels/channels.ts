// Channels of a worker: creates them, turns references into live ends before user code reads them, and ends the
// remaining ones when the worker shuts down.
//
// A message is searched for references only if its text holds the mark that all references have, or if one of its
// shapes holds the key. The wire that reads the message notices this, so a call without a reference costs one look
// through its text.

import { SvcError } from '../calls/errors.ts';
import type { HttpRequest } from '../triggers/http-messages.ts';
import { ReceivedRequest } from '../triggers/received-request.ts';
import type { Settings } from '../worker/options.ts';
import type { Platform } from '../worker/platform.ts';
import { ChannelReader } from './channel-reader.ts';
import { type ChannelRef, replaceRefs } from './channel-ref.ts';
import type { ChannelContext, LiveEnd } from './channel-socket.ts';
import { ChannelWriter } from './channel-writer.ts';

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
  /** How many frames may be on their way to a reader that has not read them: 1 to 1024. Default 64. */
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

export class Channels {
  readonly #context: ChannelContext;
  readonly #live = new Set<LiveEnd>();
  /** Called when the last end is gone. */
  #whenIdle: () => void = () => {};
  /** Whether a text with the mark has arrived since the last value was handed on. */
  #sawMark = false;

  constructor(platform: Platform, settings: Settings) {
    const live = {
      enter: (end: LiveEnd) => void this.#live.add(end),
      leave: (end: LiveEnd) => {
        this.#live.delete(end);
        if (this.#live.size === 0) this.#whenIdle();
      },
    };
    this.#context = { platform, settings, live };
  }

  /** Called while a message is read that may hold a reference. */
  readonly noteReference = (): void => {
    this.#sawMark = true;
  };

  /** A payload or a result that has just been read, with live ends in place of references. */
  revive(value: unknown): unknown {
    if (value instanceof ReceivedRequest) return this.#open(value);
    return this.#sawMark ? this.#replace(value) : value;
  }

  /** The object of a request, whose client may have sent a reference too. */
  #open(request: ReceivedRequest): HttpRequest {
    if (this.#sawMark) request.body = this.#replace(request.body);
    return request.open(this.#context);
  }

  #replace(value: unknown): unknown {
    this.#sawMark = false;
    return replaceRefs(value, (ref) =>
      ref.direction === 'read' ? new ChannelReader(this.#context, ref) : new ChannelWriter(this.#context, ref),
    );
  }

  /** Reads the channel from the engine's answer. */
  readCreated(answer: unknown): Channel {
    if (typeof answer === 'object' && answer !== null && 'writer' in answer && 'reader' in answer) {
      const { writer, reader } = answer;
      if (writer instanceof ChannelWriter && reader instanceof ChannelReader) {
        return { writer, reader, writerRef: writer.ref, readerRef: reader.ref };
      }
    }
    throw new SvcError('UNKNOWN', 'createChannel: the answer of the engine is not a channel');
  }

  /** Ends the connection of every end; what was written and closed gets a moment to leave. */
  async end(): Promise<void> {
    const error = new SvcError('SHUTDOWN', 'this worker was shut down');
    for (const end of [...this.#live]) if (!end.isClosing()) end.fail(error);
    if (this.#live.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#context.platform.clock.after(GOODBYE_MS_MAX, resolve);
      this.#whenIdle = () => {
        cancel();
        resolve();
      };
    });
    for (const end of [...this.#live]) end.fail(error);
  }
}

const GOODBYE_MS_MAX = 1_000;
