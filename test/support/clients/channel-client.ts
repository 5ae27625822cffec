// An end of a channel without an SDK: a plain WebSocket whose messages the test reads and writes.

import { WebSocket } from 'ws';
import { within } from '../wait-for.ts';
import type { PeerFrame } from './channel-ends.ts';
import { opened } from './opened.ts';
import type { Goodbye } from './raw-worker.ts';

export interface Ref {
  readonly channel_id: string;
  readonly access_key: string;
  readonly direction: string;
}

export interface DialOptions {
  readonly subprotocols?: readonly string[];
  /** Gets the messages instead of `received`. */
  readonly onMessage?: (data: Buffer, isBinary: boolean) => void;
}

/** The address of an end, as the SDKs write it. */
export function channelUrl(base: string, { channel_id, access_key, direction }: Ref): string {
  return `${base.replace(/\/$/, '')}/ws/channels/${channel_id}?key=${encodeURIComponent(access_key)}&dir=${direction}`;
}

export class ChannelClient implements AsyncDisposable {
  readonly socket: WebSocket;
  /** How the connection ended, once it has. */
  readonly closed: Promise<Goodbye>;
  readonly received: PeerFrame[] = [];

  private constructor(socket: WebSocket, onMessage: DialOptions['onMessage']) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    const keep = (data: Buffer, isBinary: boolean) => void this.received.push(isBinary ? data : data.toString());
    socket.on('message', onMessage ?? keep);
    // The close that follows says what there is to say.
    socket.on('error', () => {});
  }

  static async dial(url: string, { subprotocols = [], onMessage }: DialOptions = {}): Promise<ChannelClient> {
    const client = new ChannelClient(new WebSocket(url, [...subprotocols], { perMessageDeflate: false }), onMessage);
    // `once` rejects with the socket's own error when the upgrade is refused.
    await opened(client.socket);
    return client;
  }

  /**
   * Sends a frame and waits until the operating system has taken it. Then lets the socket be read: a sender that never
   * does hears no goodbye.
   */
  async send(frame: PeerFrame): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.socket.send(frame, (error) => (error ? reject(error) : setImmediate(resolve)));
    });
  }

  /** Its end, which must come in time. */
  async end(timeoutMs = 30_000): Promise<Goodbye> {
    return await within(timeoutMs, 'the connection ends', this.closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await this.closed;
  }
}

/**
 * Whether a client that asks for the end is turned away: refused, or closed by the router that has the channel. An end
 * that is still open after that time is not.
 */
export async function isTurnedAway(url: string, timeoutMs = 30_000): Promise<boolean> {
  const client = await ChannelClient.dial(url).catch(() => undefined);
  if (client === undefined) return true;
  const goodbye = await client.end(timeoutMs).catch(() => undefined);
  await client[Symbol.asyncDispose]();
  return goodbye?.code === OTHER_END_GONE;
}

const OTHER_END_GONE = 4420;
