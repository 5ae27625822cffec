// The part of uWebSockets.js that the engine uses, typed by hand: the package carries no types.

import { createRequire } from 'node:module';
import type { ByteString } from '../../protocol/json/byte-string.ts';
import { isRecord } from '../../protocol/json/record.ts';
import type { ListenOptions } from '../transport.ts';
import { type UwsUnavailable, uwsPackages, whyUnavailable } from './uws-binary.ts';

export interface UwsSocket {
  send(message: Uint8Array | string, isBinary: boolean): number;
  getBufferedAmount(): number;
  cork(write: () => void): void;
  ping(): number;
  end(code: number, reason: string): void;
  close(): void;
  getUserData(): UwsUserData;
}

/** What `upgrade` passes in and every later callback can read. */
export interface UwsUserData {
  readonly path: string;
  readonly remoteAddress: string;
  readonly subprotocol: string | undefined;
  readonly connected: ListenOptions['connected'];
}

export interface UwsRequest {
  getUrl(): string;
  getCaseSensitiveMethod(): string;
  forEach(take: (lowerCaseName: string, value: string) => void): void;
  getQuery(): string | undefined;
  getHeader(lowerCaseName: string): string;
}

export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  end(body: string | Uint8Array | undefined, closeConnection: boolean): UwsResponse;
  endWithoutBody(reportedLength?: number, closeConnection?: boolean): UwsResponse;
  /**
   * Sends as much of a body of `bodyBytes` as the operating system takes now. `isFree`: it took all of these bytes;
   * `isSent`: the answer is complete.
   */
  tryEnd(bytes: Uint8Array, bodyBytes: number): readonly [isFree: boolean, isSent: boolean];
  /** How much of the body was sent. */
  getWriteOffset(): number;
  /** False: not all of it could be sent at once. The library keeps the rest. */
  write(bytes: Uint8Array): boolean;
  onWritable(sendMore: (offset: number) => boolean): UwsResponse;
  onAborted(aborted: () => void): UwsResponse;
  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  cork(write: () => void): UwsResponse;
  pause(): void;
  resume(): void;
  close(): void;
  getRemoteAddressAsText(): ArrayBuffer;
  /** Not in 20.51. */
  getRemotePort?(): number;
  upgrade(data: UwsUserData, key: string, protocol: string, extensions: string, context: unknown): void;
}

export interface UwsBehavior {
  maxPayloadLength: number;
  maxBackpressure: number;
  closeOnBackpressureLimit: boolean;
  idleTimeout: number;
  sendPingsAutomatically: boolean;
  compression: number;
  upgrade(response: UwsResponse, request: UwsRequest, context: unknown): void;
  open(socket: UwsSocket): void;
  message(socket: UwsSocket, message: ArrayBuffer, isBinary: boolean): void;
  drain(socket: UwsSocket): void;
  ping(socket: UwsSocket): void;
  pong(socket: UwsSocket): void;
  close(socket: UwsSocket, code: number, reason: ArrayBuffer): void;
}

export interface UwsApp {
  ws(pattern: string, behavior: UwsBehavior): UwsApp;
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  /** Called for each connection that opens (1) or ends (-1). */
  filter(changed: (response: UwsResponse, change: number) => void): UwsApp;
  listen(host: string, port: number, options: number, listening: (token: unknown) => void): UwsApp;
  close(): void;
  /** What `addChildAppDescriptor` takes. */
  getDescriptor(): unknown;
  /** From now on connections that this app accepts are given to that one. Both have TLS, or neither. */
  addChildAppDescriptor(descriptor: unknown): void;
  removeChildAppDescriptor(descriptor: unknown): void;
}

export interface Uws {
  App(): UwsApp;
  /** With TLS. Throws where it cannot use the files. */
  SSLApp(options: { readonly cert_file_name: string; readonly key_file_name: string }): UwsApp;
  us_listen_socket_close(token: unknown): void;
  us_socket_local_port(token: unknown): number;
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  DISABLED: number;
}

/** Loads the binary for this Node, or returns why none can be loaded. */
export function loadUws(): Uws | UwsUnavailable {
  // The library reads this once while it loads: headers up to 16 KiB (guarantees 4); its own default is 4 KiB.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = '16384';
  const require = createRequire(import.meta.url);
  const major = Number.parseInt(process.versions.node, 10);
  let firstError: Error | undefined;
  for (const name of uwsPackages(major)) {
    try {
      // The one unchecked cast to the shape of the library; the transport contract tests prove the shape.
      return require(name) as Uws;
    } catch (error) {
      firstError ??= error instanceof Error ? error : new Error(String(error));
    }
  }
  const { platform, arch } = process;
  return whyUnavailable({ platform, arch, major, glibc: glibcVersion() }, firstError ?? new Error('no package'));
}

/** Asked only where loading failed: the report takes milliseconds. */
function glibcVersion(): string | undefined {
  const report: unknown = process.report.getReport();
  const version: unknown = isRecord(report) && isRecord(report.header) && report.header.glibcVersionRuntime;
  return typeof version === 'string' ? version : undefined;
}

// The library copies bytes that it cannot write at once, so one buffer serves all small texts of all connections.
const SCRATCH = Buffer.allocUnsafeSlow(256 * 1024);

/** Valid until the next call. */
export function writeScratch(text: ByteString): Uint8Array {
  if (text.length > SCRATCH.length) return Buffer.from(text, 'latin1');
  return SCRATCH.subarray(0, SCRATCH.write(text, 0, 'latin1'));
}
