// The answer of a port to one HTTP request with any headers, most of which browsers and SDKs do not send.

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

export interface UpgradeAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

export interface UpgradeOptions {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  /** Address to dial; the port's own by default. */
  readonly host?: string;
  /** Address to dial from. */
  readonly from?: string;
}

const UPGRADE_HEADERS = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Requests a WebSocket and returns the answer. A socket that opens is closed at once. */
export async function tryUpgrade(
  port: number,
  { headers = {}, ...place }: UpgradeOptions = {},
): Promise<UpgradeAnswer> {
  return await ask(port, { ...place, headers: { ...UPGRADE_HEADERS, ...headers } });
}

/** A plain GET, as from the address bar of a browser. */
export async function getPage(port: number, options: UpgradeOptions = {}): Promise<UpgradeAnswer> {
  return await ask(port, options);
}

async function ask(port: number, { path = '/', headers = {}, host = '127.0.0.1', from }: UpgradeOptions) {
  const localAddress = from === undefined ? {} : { localAddress: from };
  const sent = request({ host, port, path, headers, agent: false, ...localAddress });
  const answered = new Promise<UpgradeAnswer>((resolve, reject) => {
    sent.once('upgrade', (answer: IncomingMessage, socket: Socket) => {
      socket.destroy();
      resolve({ status: 101, text: '', headers: answer.headers });
    });
    sent.once('response', (answer) => readAnswer(answer).then(resolve, reject));
    sent.once('error', reject);
  });
  sent.end();
  return await answered;
}

async function readAnswer(answer: IncomingMessage): Promise<UpgradeAnswer> {
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(answer, 'end');
  return { status: answer.statusCode ?? 0, text, headers: answer.headers };
}
