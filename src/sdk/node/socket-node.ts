// A WebSocket of the library `ws` in the form that the SDK needs: one write per turn, and one end event with a reason.
//
// Messages are framed here, as RFC 6455 requires it of a client: many texts in one piece of memory, or bytes in place.
// Passing each message to the library instead costs two chunks per message, and joining those chunks into one write
// took a third of all time of a busy caller.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import WebSocket from 'ws';
import { asBuffer } from '../../protocol/json/node-bytes.ts';
import type { PlatformSocket, SocketClosure, SocketEvents, SocketRequest } from '../worker/platform.ts';
import { connectionOptions, tlsAdvice } from './tls-node.ts';

/** `secured`: options of TLS, for `wss://`. */
export function openSocket(
  request: SocketRequest,
  events: SocketEvents,
  secured: ConnectionOptions = connectionOptions({}),
): PlatformSocket {
  const isSecure = request.url.startsWith('wss:');
  const socket = new WebSocket(request.url, [...request.subprotocols], {
    ...(isSecure && secured),
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
    failure ??= { reason: describeError(error, isSecure) };
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

function describeError(error: Error, isSecure: boolean): string {
  // A host name with several addresses fails with all their errors and no text of its own.
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const text = errors.map((one) => (one instanceof Error ? one.message : String(one))).join('; ');
  const advice = tlsAdvice(error, isSecure);
  return oneLine(advice === undefined ? text : `${text}; ${advice}`);
}

/** Text from a stranger must not control a terminal or fill a log. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, REASON_CHARS_MAX);
}

const REASON_CHARS_MAX = 300;

/** One final text frame per message, each with a mask of zeros. */
export function frameTexts(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  let total = 0;
  for (const size of sizes) total += headerBytes(size) + size;
  const frames = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    at = writeHeader(frames, at, FINAL_TEXT, sizes[index] ?? 0);
    at += frames.write(text, at);
  }
  return frames;
}

/** One final binary frame. Its header is written in front of `start`, where there is room for the longest header. */
export function frameBytes(memory: Uint8Array, start: number, end: number): Buffer {
  const size = end - start;
  const frame = asBuffer(memory).subarray(start - headerBytes(size), end);
  writeHeader(frame, 0, FINAL_BINARY, size);
  return frame;
}

const FINAL_TEXT = 0x81;
const FINAL_BINARY = 0x82;
const MASKED = 0x80;
const MASK_BYTES = 4;
/** Payloads up to this size have it in the second byte; for larger ones that byte says which size field follows. */
const SIZE_IN_BYTE_MAX = 125;
const SIZE_IN_16_BITS = 126;
const SIZE_IN_64_BITS = 127;

function headerBytes(size: number): number {
  if (size <= SIZE_IN_BYTE_MAX) return 2 + MASK_BYTES;
  return (size <= 0xffff ? 4 : 10) + MASK_BYTES;
}

function writeHeader(frames: Buffer, start: number, kind: number, size: number): number {
  let at = frames.writeUInt8(kind, start);
  if (size <= SIZE_IN_BYTE_MAX) {
    at = frames.writeUInt8(MASKED | size, at);
  } else if (size <= 0xffff) {
    at = frames.writeUInt8(MASKED | SIZE_IN_16_BITS, at);
    at = frames.writeUInt16BE(size, at);
  } else {
    at = frames.writeUInt8(MASKED | SIZE_IN_64_BITS, at);
    at = frames.writeUInt32BE(Math.floor(size / 2 ** 32), at);
    at = frames.writeUInt32BE(size % 2 ** 32, at);
  }
  return frames.writeUInt32BE(0, at);
}
