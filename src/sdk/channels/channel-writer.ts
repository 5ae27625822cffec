// The writing end of a channel.
//
// States and transitions:
//   unused   nothing has been written                     first write → writing, close → closing
//   writing  frames leave as the engine grants credit     close → closing
//   closing  no more writes; frames still leave           last frame sent → leaving
//   leaving  the close frame is sent                      the engine's close → closed
//   closed   the engine has everything
//   failed   final, from any state but closed: the connection was lost or broken off
//
// - Frames leave in the order they were written, and only under credit (docs/channels.md).
// - Each write settles once: when its last frame has been handed to the socket, or with the error.

import { CreditAccount, decodeCredit } from '../../protocol/frames/channel-credit.ts';
import { SvcError } from '../calls/errors.ts';
import type { SocketClosure } from '../worker/platform.ts';
import type { ChannelRef } from './channel-ref.ts';
import { type ChannelContext, ChannelSocket, channelError, FRAME_BYTES, type LiveEnd } from './channel-socket.ts';
import { Fifo } from './fifo.ts';

/**
 * The writing end of a channel. It connects when it is first used. Only one worker can use it, once.
 *
 * @example
 * import { registerWorker, type ChannelWriter } from 'svc-sdk';
 *
 * registerWorker().registerFunction('files::send', async ({ into }: { into: ChannelWriter }) => {
 *   await into.write('a message');
 *   await into.write(new Uint8Array(1_000_000));
 *   await into.close();
 * });
 */
export class ChannelWriter {
  /** Put this into a payload for another worker to write. `JSON.stringify` writes it in place of this object. */
  readonly ref: ChannelRef;
  readonly #context: ChannelContext;
  #state: 'unused' | 'writing' | 'closing' | 'leaving' | 'closed' | 'failed' = 'unused';
  #socket: ChannelSocket | undefined;
  /** Set by the engine's first grant, which also shows that the connection is up. */
  #credit: CreditAccount | undefined;
  #error: SvcError | undefined;
  #stream: WritableStream<Uint8Array | string> | undefined;
  #own: InUse | undefined;

  constructor(context: ChannelContext, ref: ChannelRef) {
    this.#context = context;
    this.ref = ref;
  }

  /** The same end as a web stream: bytes are data, texts are messages. */
  get stream(): WritableStream<Uint8Array | string> {
    this.#stream ??= new WritableStream<Uint8Array | string>({
      write: (chunk) => this.write(chunk),
      close: () => this.close(),
      abort: () => this.abort(),
    });
    return this.#stream;
  }

  /**
   * Sends bytes, or a text as one message. Resolves when the last byte is on its way, so a slower reader delays it;
   * until then the bytes must not be changed. Writes leave in order, whether or not they are awaited.
   */
  write(data: Uint8Array | string): Promise<void> {
    const offence = this.#error ?? this.#offence(data);
    if (offence !== undefined) return Promise.reject(offence);
    return new Promise((resolve, reject) => {
      this.#inUse.writes.push({ data, sentBytes: 0, resolve, reject });
      if (this.#state === 'unused') this.#dial('writing');
      else this.#pump();
    });
  }

  /** Ends the stream after everything written. Resolves when the engine has all of it. */
  close(): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#state === 'closed') return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#inUse.closeWaiters.push({ resolve, reject });
      if (this.#state === 'unused') {
        this.#dial('closing');
      } else if (this.#state === 'writing') {
        this.#state = 'closing';
        this.#pump();
      }
    });
  }

  /** Breaks off: the reader gets what was sent, and then an error instead of the end. */
  abort(): void {
    this.#fail(new SvcError('CHANNEL_CLOSED', `channel ${this.ref.channel_id}: the writer was aborted`));
  }

  toJSON(): ChannelRef {
    return this.ref;
  }

  #offence(data: Uint8Array | string): SvcError | undefined {
    const channel = `channel ${this.ref.channel_id}`;
    if (this.#state !== 'unused' && this.#state !== 'writing') {
      return new SvcError('CHANNEL_CLOSED', `${channel}: the writer is already closed`);
    }
    if (data instanceof Uint8Array) return undefined;
    if (typeof data !== 'string') {
      return new SvcError('INVALID_ARGUMENTS', `${channel}: ${typeof data} was written, expected text or a Uint8Array`);
    }
    const { platform, settings } = this.#context;
    const bytes = platform.memory.byteLength(data);
    if (bytes <= settings.frameBytesMax) return undefined;
    const limit = `frame_bytes_max is ${settings.frameBytesMax}; send bytes, which have no limit`;
    return new SvcError('PAYLOAD_TOO_LARGE', `${channel}: a message of ${bytes} bytes, ${limit}`);
  }

  get #inUse(): InUse {
    this.#own ??= new InUse({
      isClosing: () => this.#state === 'closing' || this.#state === 'leaving',
      fail: (error) => this.#fail(error),
    });
    return this.#own;
  }

  #dial(state: 'writing' | 'closing'): void {
    this.#state = state;
    this.#context.live.enter(this.#inUse.live);
    this.#socket = new ChannelSocket(this.#context, this.ref, {
      onMessage: (message) => this.#takeCredit(message),
      onEnd: (closure) => this.#onEnd(closure),
    });
  }

  /** Grants of credit are the only messages of the engine to a writer. */
  #takeCredit(message: string | Uint8Array): void {
    const grant = typeof message === 'string' ? decodeCredit(message) : undefined;
    if (grant === undefined) return;
    if (this.#credit === undefined) this.#credit = new CreditAccount(grant);
    else this.#credit.add(grant);
    this.#pump();
  }

  #pump(): void {
    const [socket, credit] = [this.#socket, this.#credit];
    if (socket === undefined || credit === undefined) return;
    const { writes } = this.#inUse;
    for (let write = writes.first; write !== undefined && credit.isOpen; write = writes.first) {
      if (!this.#sendNextFrame(write, socket, credit)) continue;
      writes.shift();
      write.resolve();
    }
    if (this.#state !== 'closing' || !writes.isEmpty) return;
    this.#state = 'leaving';
    socket.close('stream_complete');
  }

  /** Returns true for the last frame of that write. */
  #sendNextFrame(write: PendingWrite, socket: ChannelSocket, credit: CreditAccount): boolean {
    const { data } = write;
    if (typeof data === 'string') {
      credit.spend(this.#context.platform.memory.byteLength(data));
      socket.sendText(data);
      return true;
    }
    const part = data.subarray(write.sentBytes, write.sentBytes + FRAME_BYTES);
    credit.spend(part.length);
    socket.sendBytes(part);
    write.sentBytes += part.length;
    return write.sentBytes >= data.length;
  }

  #onEnd(closure: SocketClosure): void {
    if (this.#state !== 'leaving' || closure.code !== 1000) {
      this.#fail(channelError(this.ref, closure));
      return;
    }
    this.#state = 'closed';
    const { live, closeWaiters } = this.#inUse;
    this.#context.live.leave(live);
    for (const { resolve } of closeWaiters.takeAll()) resolve();
  }

  #fail(error: SvcError): void {
    if (this.#state === 'closed' || this.#state === 'failed') return;
    this.#state = 'failed';
    this.#error = error;
    this.#socket?.terminate();
    if (this.#own === undefined) return;
    const { live, writes, closeWaiters } = this.#own;
    this.#context.live.leave(live);
    for (const { reject } of writes.takeAll()) reject(error);
    for (const { reject } of closeWaiters.takeAll()) reject(error);
  }
}

/** Created on first use: the handler of an HTTP trigger gets two ends, and most handlers use neither. */
class InUse {
  readonly writes = new Fifo<PendingWrite>();
  readonly closeWaiters = new Fifo<Waiter>();
  readonly live: LiveEnd;

  constructor(live: LiveEnd) {
    this.live = live;
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: SvcError) => void;
}

interface PendingWrite extends Waiter {
  readonly data: Uint8Array | string;
  sentBytes: number;
}
