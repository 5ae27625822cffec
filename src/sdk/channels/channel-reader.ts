// The reading end of a channel.
//
// States and transitions:
//   unused   nothing has been read                              first use → open
//   open     incoming messages are queued, up to one window     the end, or our close → over
//   over     no more messages arrive; the queued ones are delivered, then the end or the error
//
// - Messages are delivered in the order they arrived, each once. Texts skip the queue and go to the listeners, if
//   there are any.
// - The engine gets credit when a message is delivered: a slow reader slows the writer.

import { CreditWindow, encodeCredit, READER_WINDOW } from '../../protocol/frames/channel-credit.ts';
import type { SvcError } from '../calls/errors.ts';
import type { SocketClosure } from '../worker/platform.ts';
import type { ChannelRef } from './channel-ref.ts';
import { type ChannelContext, ChannelSocket, channelError, type LiveEnd } from './channel-socket.ts';
import { Fifo } from './fifo.ts';

/**
 * The reading end of a channel. It connects when it is first used. Only one worker can use it, once. A stream whose
 * writer was lost ends with an error, not as if it were complete.
 *
 * @example
 * import { registerWorker, type ChannelReader } from 'svc-sdk';
 *
 * registerWorker().registerFunction('files::size', async ({ from }: { from: ChannelReader }) => {
 *   let size = 0;
 *   for await (const message of from) {
 *     if (typeof message === 'string') console.log('note', message);
 *     else size += message.length;
 *   }
 *   return { size };
 * });
 */
export class ChannelReader implements AsyncIterable<Uint8Array | string> {
  /** Put this into a payload for another worker to read. `JSON.stringify` writes it in place of this object. */
  readonly ref: ChannelRef;
  readonly #context: ChannelContext;
  #state: 'unused' | 'open' | 'over' = 'unused';
  #socket: ChannelSocket | undefined;
  /** Why the stream is not complete. */
  #error: SvcError | undefined;
  #stream: ReadableStream<Uint8Array> | undefined;
  #own: InUse | undefined;

  constructor(context: ChannelContext, ref: ChannelRef) {
    this.#context = context;
    this.ref = ref;
  }

  /** The bytes as a web stream. Texts go to `onMessage`; without a listener they are dropped. */
  get stream(): ReadableStream<Uint8Array> {
    this.#stream ??= new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const bytes = await this.#nextBytes();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        },
        cancel: () => this.close(),
      },
      // No read-ahead here: the window is the read-ahead.
      { highWaterMark: 0 },
    );
    return this.#stream;
  }

  /** All bytes up to the end, in one piece. Texts go to `onMessage`; without a listener they are dropped. */
  async readAll(): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for (let bytes = await this.#nextBytes(); bytes !== undefined; bytes = await this.#nextBytes()) {
      parts.push(bytes);
      size += bytes.length;
    }
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  /**
   * Passes every text to the listener as it arrives, ahead of bytes that have not been read yet. From then on texts
   * are delivered in no other way. The returned function removes the listener.
   */
  onMessage(listener: (text: string) => void): () => void {
    const { listeners, queue } = this.#inUse;
    listeners.add(listener);
    this.#dial();
    const queued = queue.takeAll();
    for (const message of queued) this.#receive(message);
    return () => void listeners.delete(listener);
  }

  /** Bytes and texts in order. Leaving the loop early closes the reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array | string, void, undefined> {
    try {
      for (let message = await this.#next(); message !== undefined; message = await this.#next()) yield message.data;
    } finally {
      this.close();
    }
  }

  /** Stops reading; a connected writer is notified. */
  close(): void {
    this.#own?.queue.takeAll();
    this.#end(undefined);
  }

  toJSON(): ChannelRef {
    return this.ref;
  }

  get #inUse(): InUse {
    this.#own ??= new InUse({ isClosing: () => false, fail: (error) => this.#end(error) });
    return this.#own;
  }

  #dial(): void {
    if (this.#state !== 'unused') return;
    this.#state = 'open';
    this.#context.live.enter(this.#inUse.live);
    this.#socket = new ChannelSocket(this.#context, this.ref, {
      // The socket reuses its bytes after this returns; on a Buffer, `slice` would not copy them.
      onMessage: (data) => this.#arrive(typeof data === 'string' ? data : new Uint8Array(data)),
      onEnd: (closure) => this.#onEnd(closure),
    });
  }

  #arrive(data: Uint8Array | string): void {
    const bytes = typeof data === 'string' ? this.#context.platform.memory.byteLength(data) : data.length;
    this.#receive({ data, bytes });
    this.#inUse.waiters.shift()?.();
  }

  #receive(message: Message): void {
    const { listeners, queue } = this.#inUse;
    if (typeof message.data !== 'string' || listeners.size === 0) {
      queue.push(message);
      return;
    }
    this.#release(message);
    for (const listener of listeners) this.#notify(listener, message.data);
  }

  /** A listener that throws must not stop the other listeners, nor the bytes that follow. */
  #notify(listener: (text: string) => void, text: string): void {
    try {
      listener(text);
    } catch (error) {
      const what = `channel ${this.ref.channel_id}: a listener of onMessage threw`;
      this.#context.settings.log('error', `${what} ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #nextBytes(): Promise<Uint8Array | undefined> {
    for (let message = await this.#next(); message !== undefined; message = await this.#next()) {
      if (typeof message.data !== 'string') return message.data;
    }
    return undefined;
  }

  /** The next message, or undefined at the end of a complete stream. */
  async #next(): Promise<Message | undefined> {
    this.#dial();
    const { queue, waiters } = this.#inUse;
    for (;;) {
      const message = queue.shift();
      if (message !== undefined) {
        this.#release(message);
        return message;
      }
      if (this.#state === 'over') {
        if (this.#error !== undefined) throw this.#error;
        return undefined;
      }
      await new Promise<void>((resolve) => waiters.push(resolve));
    }
  }

  #release({ bytes }: Message): void {
    const grant = this.#inUse.window.release(bytes);
    if (grant !== undefined && this.#state === 'open') this.#socket?.sendText(encodeCredit(grant));
  }

  #onEnd(closure: SocketClosure): void {
    this.#end(closure.code === 1000 ? undefined : channelError(this.ref, closure));
  }

  #end(error: SvcError | undefined): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#error = error;
    this.#socket?.terminate();
    if (this.#own === undefined) return;
    this.#context.live.leave(this.#own.live);
    for (const wake of this.#own.waiters.takeAll()) wake();
  }
}

/** Created on first use: the handler of an HTTP trigger gets two ends, and most handlers use neither. */
class InUse {
  readonly window = new CreditWindow(READER_WINDOW);
  readonly queue = new Fifo<Message>();
  readonly waiters = new Fifo<() => void>();
  readonly listeners = new Set<(text: string) => void>();
  readonly live: LiveEnd;

  constructor(live: LiveEnd) {
    this.live = live;
  }
}

interface Message {
  readonly data: Uint8Array | string;
  readonly bytes: number;
}
