// A port of the transport under test, and all events it reported.

import type { Clock } from '../../../src/effects/clock.ts';
import type {
  AcceptedRequest,
  Admission,
  PeerSocket,
  PendingAdmission,
  SocketEvents,
  UpgradeRequest,
} from '../../../src/transport/socket.ts';
import type { Listener, ListenOptions, Transport } from '../../../src/transport/transport.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { contractTls } from './dialling.ts';
import { FrameClient, upgradeRequest } from './frame-client.ts';

/** One implementation of the transport, and what it does not support. */
export interface TransportUnderTest {
  readonly name: string;
  create(clock: Clock): Transport;
  /** The reason for each behaviour of the other implementation that this one lacks. */
  readonly cannot: Readonly<Partial<Record<Ability, string>>>;
}

export type Ability =
  /** Sends a close frame that names the broken rule before it ends the connection. */
  | 'sayWhy'
  /** Notices that a client did not mask a frame. */
  | 'seeMissingMask'
  /** Ends a message of too many fragments, or that takes too long. */
  | 'boundFragments'
  /** Reports messages that arrived in one piece with the end of the connection. */
  | 'keepLastWords'
  /** Keeps bytes that arrived in one piece with the upgrade request. */
  | 'keepEarlyFrames'
  /** Ends a request that is not complete within 5 s, at any pace. */
  | 'boundUpgradeTime'
  /** Refuses an upgrade request that lacks a header of the WebSocket rules. */
  | 'readAllUpgradeHeaders'
  /** Answers bytes that are not HTTP. */
  | 'answerGarbage';

export interface Closing {
  readonly code: number;
  readonly isOverlong: boolean;
}

export interface ReportedMessage {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

/** A connection as the engine uses it. */
export class Connection implements SocketEvents {
  readonly socket: PeerSocket;
  readonly request: AcceptedRequest;
  readonly messages: ReportedMessage[] = [];
  readonly closings: Closing[] = [];
  heardCount = 0;
  /** The engine's handling of a message, inside the callback of the transport. */
  whenMessage: (message: ReportedMessage) => void = () => {};

  constructor(socket: PeerSocket, request: AcceptedRequest) {
    this.socket = socket;
    this.request = request;
  }

  message(bytes: Uint8Array, isBinary: boolean): void {
    // They are valid only during the call.
    const message = { bytes: Buffer.from(bytes), isBinary };
    this.messages.push(message);
    this.whenMessage(message);
  }

  heard(): void {
    this.heardCount += 1;
  }

  closed(code: number, isOverlong = false): void {
    this.closings.push({ code, isOverlong });
  }

  /** The messages as text. */
  get texts(): string[] {
    return this.messages.map(({ bytes }) => bytes.toString());
  }

  async hears(count: number): Promise<void> {
    await waitFor(`${count} messages have arrived`, () => this.messages.length >= count);
  }

  /** How it ended. The end must have been reported exactly once. */
  async closing(): Promise<Closing> {
    await waitFor('the end is reported', () => this.closings.length > 0);
    const [closing, ...more] = this.closings;
    if (closing === undefined || more.length > 0) throw new Error(`The end was reported ${this.closings.length} times`);
    return closing;
  }
}

export interface BothEnds {
  readonly client: FrameClient;
  readonly connection: Connection;
}

export interface PortOptions extends Partial<Pick<ListenOptions, 'host' | 'port' | 'frameBytesMax'>> {
  admit?(request: UpgradeRequest): Admission | PendingAdmission;
  /** The engine's handling of a new connection, inside the callback. */
  whenConnected?(connection: Connection): void;
}

export class ContractPort implements AsyncDisposable {
  readonly listener: Listener;
  readonly clock: TurningClock;
  /** In the order in which they were reported. */
  readonly connections: Connection[];

  private constructor(listener: Listener, clock: TurningClock, connections: Connection[]) {
    this.listener = listener;
    this.clock = clock;
    this.connections = connections;
  }

  static async open({ create }: TransportUnderTest, options: PortOptions = {}): Promise<ContractPort> {
    const { host = '127.0.0.1', port = 0, frameBytesMax = 64 * 1024, admit = letIn, whenConnected } = options;
    const clock = new TurningClock();
    const connections: Connection[] = [];
    const listener = await create(clock).listen({
      host,
      port,
      tls: contractTls(),
      frameBytesMax,
      bufferedBytesMax: 512 * 1024 * 1024,
      admit,
      connected(socket, request) {
        const connection = new Connection(socket, request);
        connections.push(connection);
        whenConnected?.(connection);
        return connection;
      },
    });
    return new ContractPort(listener, clock, connections);
  }

  get port(): number {
    return this.listener.port;
  }

  /** A connection and its other end. One at a time: they are matched by their order. */
  async connect(request: string | Buffer = upgradeRequest(), host?: string): Promise<BothEnds> {
    const before = this.connections.length;
    const client = await FrameClient.upgrade(this.port, request, host);
    const connection = this.connections[before];
    if (connection === undefined) throw new Error('Upgraded and not reported');
    return { client, connection };
  }

  async connectMany(count: number): Promise<BothEnds[]> {
    const all: BothEnds[] = [];
    while (all.length < count) all.push(await this.connect());
    return all;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listener.close();
  }
}

function letIn(): Admission {
  return { ok: true, subprotocol: undefined };
}
