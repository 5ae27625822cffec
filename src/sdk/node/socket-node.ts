// A WebSocket of the library `ws` in the form that the SDK needs: one write per turn, and one end event with a reason.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import type { PlatformSocket, SocketClosure, SocketEvents, SocketRequest } from '../worker/platform.ts';
import { frameBytes, frameTexts } from './frames-node.ts';

export function openSocket(request: SocketRequest, events: SocketEvents): PlatformSocket {
  const socket = new WebSocket(request.url, [...request.subprotocols], {
    headers: { ...request.headers },
    maxPayload: request.messageBytesMax,
    perMessageDeflate: false,
  });
  const isHidden = isHiddenFromIntermediaries(request.url);
  let stream: Socket | undefined;
  let failure: Pick<SocketClosure, 'reason' | 'httpStatus'> | undefined;
  socket.on('upgrade', (response) => {
    stream = response.socket;
  });
  socket.on('message', (data, isBinary) => {
    // By default the library delivers buffers.
    if (Buffer.isBuffer(data)) events.onMessage(isBinary ? data : data.toString());
  });
  socket.on('ping', () => events.onAlive());
  socket.on('pong', () => events.onAlive());
  socket.on('unexpected-response', (_clientRequest, response) => {
    readRefusal(response, (reason) => {
      failure = { reason, ...(response.statusCode === undefined ? {} : { httpStatus: response.statusCode }) };
      socket.terminate();
    });
  });
  socket.on('error', (error) => {
    failure ??= { reason: describeError(error) };
  });
  socket.on('close', (code, reason) => {
    events.onClose({ code, reason: oneLine(reason.toString()), ...failure });
  });
  return {
    get subprotocol() {
      return socket.protocol;
    },
    sendTexts(texts) {
      if (socket.readyState !== WebSocket.OPEN || stream === undefined) return;
      if (isHidden) {
        // This fits between two writes of the library: each is a whole frame, and nothing is fragmented or compressed.
        stream.write(frameTexts(texts));
        return;
      }
      stream.cork();
      for (const text of texts) socket.send(text);
      stream.uncork();
    },
    sendBytes(memory, start, end) {
      if (socket.readyState !== WebSocket.OPEN || stream === undefined) return true;
      if (isHidden) stream.write(frameBytes(memory, start, end));
      else socket.send(memory.subarray(start, end));
      // The memory is free again if the operating system took all of it at once.
      return stream.writableLength === 0;
    },
    ping() {
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    bufferedBytes: () => socket.bufferedAmount,
  };
}

/**
 * Masks keep text that a stranger chose (in a browser) from looking like HTTP to a cache on the way. On loopback
 * nothing is on the way, and inside TLS the text is not readable: there a mask of zeros saves a pass over every byte.
 */
function isHiddenFromIntermediaries(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'wss:' || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Why the upgrade was refused: the status line, and the body if it is short text. */
function readRefusal(response: IncomingMessage, done: (reason: string) => void): void {
  let body = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    if (body.length < REASON_CHARS_MAX) body += chunk;
  });
  response.once('close', () => done(oneLine(`${response.statusMessage ?? ''} ${body}`)));
}

function describeError(error: Error): string {
  // A host name with several addresses fails with all their errors and no text of its own.
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return oneLine(errors.map((one) => (one instanceof Error ? one.message : String(one))).join('; '));
}

/** Text from a stranger must not control a terminal or fill a log. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, REASON_CHARS_MAX);
}

const REASON_CHARS_MAX = 300;
