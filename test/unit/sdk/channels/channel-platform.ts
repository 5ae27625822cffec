// The platform of channel ends in a unit test: every socket is two lists, and the test acts as the engine.

import { encodeCredit } from '../../../../src/protocol/frames/channel-credit.ts';
import { ChannelReader } from '../../../../src/sdk/channels/channel-reader.ts';
import type { ChannelRef } from '../../../../src/sdk/channels/channel-ref.ts';
import { ChannelWriter } from '../../../../src/sdk/channels/channel-writer.ts';
import { Channels } from '../../../../src/sdk/channels/channels.ts';
import { nodeMemory, watchMemory } from '../../../../src/sdk/node/memory-node.ts';
import { resolveSettings } from '../../../../src/sdk/worker/options.ts';
import type {
  PlatformSocket,
  SocketClosure,
  SocketEvents,
  SocketRequest,
} from '../../../../src/sdk/worker/platform.ts';
import type { PeerFrame } from '../../../support/clients/channel-ends.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';

export class FakeEndSocket implements PlatformSocket {
  readonly subprotocol = 'svc.channel.v1';
  readonly request: SocketRequest;
  readonly #events: SocketEvents;
  /** What the end has sent. */
  readonly sent: PeerFrame[] = [];
  pings = 0;
  ending: 'terminated' | { readonly code: number; readonly reason: string } | undefined;

  constructor(request: SocketRequest, events: SocketEvents) {
    this.request = request;
    this.#events = events;
  }

  sendTexts(texts: readonly string[]): void {
    this.sent.push(...texts);
  }

  sendBytes(memory: Uint8Array, start: number, end: number): boolean {
    this.sent.push(new Uint8Array(memory.subarray(start, end)));
    // The end learns that it may reuse the memory, so a later read of the old bytes would fail the test.
    memory.fill(0xee);
    return true;
  }

  ping(): void {
    this.pings++;
  }

  close(code: number, reason: string): void {
    this.ending = { code, reason };
  }

  terminate(): void {
    this.ending ??= 'terminated';
  }

  bufferedBytes(): number {
    return 0;
  }

  // The test as the engine

  grant(frames: number, bytes: number): void {
    this.say(encodeCredit({ frames, bytes }));
  }

  /** The bytes are invalid after they have been handled, like those of a socket. */
  say(frame: PeerFrame): void {
    this.#events.onMessage(frame);
    if (typeof frame !== 'string') frame.fill(0xee);
  }

  beAlive(): void {
    this.#events.onAlive();
  }

  end(code: number, closure: Partial<SocketClosure> = {}): void {
    this.#events.onClose({ code, reason: '', ...closure });
  }
}

export class ChannelPlatform extends FakePlatform {
  readonly ends: FakeEndSocket[] = [];
  readonly channels: Channels;

  constructor(url = 'ws://127.0.0.1:49134') {
    super();
    this.channels = new Channels(
      this,
      resolveSettings(url, { frame_bytes_max: 100_000 }, this, { headers: {}, subprotocols: [] }),
    );
  }

  override openSocket(request: SocketRequest, events: SocketEvents): PlatformSocket {
    const socket = new FakeEndSocket(request, events);
    this.ends.push(socket);
    return socket;
  }

  newReader(): ChannelReader {
    const reader = this.revive(newRef('read'));
    if (reader instanceof ChannelReader) return reader;
    throw new Error('The reference did not become a reader');
  }

  newWriter(): ChannelWriter {
    const writer = this.revive(newRef('write'));
    if (writer instanceof ChannelWriter) return writer;
    throw new Error('The reference did not become a writer');
  }

  /** The last dial. */
  get end(): FakeEndSocket {
    const end = this.ends.at(-1);
    if (end === undefined) throw new Error('nothing was dialled');
    return end;
  }

  /** A value becomes live as it does after a message with it was read. */
  revive(value: unknown): unknown {
    const text = JSON.stringify(value);
    const bytes = Buffer.from(text);
    return this.channels.revive(
      JSON.parse(watchMemory(nodeMemory, this.channels.noteReference).read(bytes, 0, bytes.length)),
    );
  }
}

export function newRef(direction: 'read' | 'write'): ChannelRef {
  return { channel_id: 'c-1', access_key: 'k/1', direction };
}
