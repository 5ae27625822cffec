// The messages between this command and the engine, for `-vv`: one line each, without secrets. The connection uses JSON
// frames then, because people can read them.

import { redactKeys } from '../../core/config-fields/redaction.ts';
import type { Platform, PlatformSocket, SocketEvents } from '../../sdk/worker/platform.ts';
import { escapeUnsafe } from '../text/display-text.ts';

const LINE_CHARS_MAX = 4_096;

export function withWireLog(platform: Platform, print: (line: string) => void): Platform {
  return {
    ...platform,
    requestedWire: () => 'json',
    openSocket: (request, events) =>
      logSent(platform.openSocket(request, logReceived(events, print)), (text) => print(`> ${readable(text)}`)),
  };
}

function logReceived(events: SocketEvents, print: (line: string) => void): SocketEvents {
  return {
    onMessage(message) {
      print(`< ${typeof message === 'string' ? readable(message) : `${message.length} bytes`}`);
      events.onMessage(message);
    },
    onAlive: () => events.onAlive(),
    onClose(closure) {
      print(`< closed with ${closure.code} ${closure.reason}`.trimEnd());
      events.onClose(closure);
    },
  };
}

function logSent(socket: PlatformSocket, print: (text: string) => void): PlatformSocket {
  return {
    get subprotocol() {
      return socket.subprotocol;
    },
    sendTexts(texts) {
      texts.forEach(print);
      socket.sendTexts(texts);
    },
    sendBytes: (memory, start, end) => socket.sendBytes(memory, start, end),
    ping: () => socket.ping(),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    bufferedBytes: () => socket.bufferedBytes(),
  };
}

function readable(text: string): string {
  const shown = escapeUnsafe(redacted(text));
  return shown.length <= LINE_CHARS_MAX ? shown : `${shown.slice(0, LINE_CHARS_MAX)}… (${text.length} characters)`;
}

/** Text that is not JSON is not shown: secrets in it cannot be found and removed. */
function redacted(text: string): string {
  try {
    return JSON.stringify(redactKeys(JSON.parse(text)));
  } catch {
    return `${text.length} characters that are not JSON`;
  }
}
