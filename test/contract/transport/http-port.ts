// An HTTP port of the transport under test, all events it reported, and raw bytes sent to it.

import type { Socket } from 'node:net';
import { NOT_SHARED } from '../../../src/core/limits/connection-counts.ts';
import { UnreadAnswers } from '../../../src/core/limits/unread-answers.ts';
import type { BodyReader, HttpExchange } from '../../../src/transport/http.ts';
import type { Listener, Transport } from '../../../src/transport/transport.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { within } from '../../support/wait-for.ts';
import { connected, contractTls, dial } from './dialling.ts';

export interface ReportedRequest {
  readonly exchange: HttpExchange;
  readonly body: Buffer[];
  /** Resolves with the whole body. */
  readonly complete: Promise<Buffer>;
  readonly isComplete: () => boolean;
}

export interface HttpPortOptions {
  readonly connectionsMax?: number;
  /** The engine's handling of a request; by default it answers when the body is complete. */
  take?(requests: ReportedRequest): void;
  closesAfterAnswer?(): boolean;
  readonly unread?: UnreadAnswers;
  fraction?(): number;
}

export class HttpPortUnderTest implements AsyncDisposable {
  readonly requests: ReportedRequest[];
  readonly refused: number[];
  readonly listener: Listener;

  private constructor(listener: Listener, requests: ReportedRequest[], refused: number[]) {
    this.listener = listener;
    this.requests = requests;
    this.refused = refused;
  }

  static async open(
    create: (clock: TurningClock) => Transport,
    options: HttpPortOptions = {},
  ): Promise<HttpPortUnderTest> {
    const { connectionsMax = 100, take = answerWhenComplete, closesAfterAnswer = () => false } = options;
    const { unread = new UnreadAnswers(256 * 1024 * 1024), fraction = () => 0.5 } = options;
    const requests: ReportedRequest[] = [];
    const refused: number[] = [];
    const listener = await create(new TurningClock()).serve({
      host: '127.0.0.1',
      port: 0,
      tls: contractTls(),
      connectionsMax,
      sharedConnections: NOT_SHARED,
      closesAfterAnswer,
      unread,
      fraction,
      request(exchange) {
        const request = readWhole(exchange);
        requests.push(request);
        take(request);
      },
      refused: (status) => refused.push(status),
    });
    return new HttpPortUnderTest(listener, requests, refused);
  }

  get port(): number {
    return this.listener.port;
  }

  stopAccepting(): void {
    this.listener.stopAccepting();
  }

  /** Sends the bytes, ends its side, and returns everything that it received. */
  send(bytes: string): Promise<string> {
    return sendBytes(this.port, bytes);
  }

  /** A connection that stays open, `from` an address of this machine. */
  async dial(from = '127.0.0.1'): Promise<Client> {
    const socket = dial({ port: this.port, localAddress: from });
    await connected(socket);
    return watched(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listener.close();
  }
}

/**
 * Sends the bytes on a connection of their own, ends its side, and returns everything that it received. A caller that
 * needs time for an answer passes a promise to await before the connection is half closed.
 */
export async function sendBytes(
  port: number,
  bytes: string,
  served: (answered: Promise<unknown>) => Promise<unknown> = async () => {},
): Promise<string> {
  const socket = dial({ port, allowHalfOpen: true });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  // A connection that is cut counts as an answer.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const answered = Promise.race([closed, new Promise<void>((resolve) => socket.once('data', () => resolve()))]);
  const isOver = new Promise<void>((resolve) => socket.once('end', () => resolve()));
  const whole = new Promise<void>((resolve) =>
    socket.on('data', () => isWhole(received, bytes.startsWith('HEAD')) && resolve()),
  );
  await Promise.race([connected(socket), closed]);
  socket.write(bytes, 'latin1');
  await served(answered);
  // With TLS, the end of one side is the end of both.
  if (contractTls() !== undefined) await Promise.race([whole, isOver, closed]);
  socket.end();
  await within(20_000, 'the connection ends', closed);
  return received;
}

/** Whether the last answer is complete. */
function isWhole(received: string, isHead: boolean): boolean {
  const [, head = '', body = ''] = /(HTTP\/1\.1 (?!.*HTTP\/1\.1 ).*?)\r\n\r\n(.*)$/s.exec(received) ?? [];
  if (isHead) return head !== '';
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) return body.length >= Number(length);
  return !/transfer-encoding/i.test(head) || body.endsWith('0\r\n\r\n');
}

/** A connection, and all bytes received on it. */
export type Client = Socket & { received: string; hasEnded: boolean };

function watched(socket: Socket): Client {
  const client = Object.assign(socket, { received: '', hasEnded: false });
  client.setEncoding('latin1');
  client.on('data', (text: string) => {
    client.received += text;
  });
  client.on('error', () => {});
  client.once('close', () => {
    client.hasEnded = true;
  });
  return client;
}

/** The statuses of all answers in a text, in order. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1])).filter((status) => status !== 100);
}

function answerWhenComplete({ exchange, complete }: ReportedRequest): void {
  void complete.then((body) => exchange.answer(200, ['content-type', 'text/plain'], body));
}

function readWhole(exchange: HttpExchange): ReportedRequest {
  const body: Buffer[] = [];
  let whole: (bytes: Buffer) => void = () => {};
  let isComplete = false;
  const complete = new Promise<Buffer>((resolve) => {
    whole = (bytes) => {
      isComplete = true;
      resolve(bytes);
    };
  });
  const reader: BodyReader = {
    chunk: (bytes) => void body.push(Buffer.from(bytes)),
    ended: () => whole(Buffer.concat(body)),
  };
  if (exchange.bodyBytes === 0) whole(Buffer.alloc(0));
  else exchange.readBody(reader);
  return { exchange, body, complete, isComplete: () => isComplete };
}
