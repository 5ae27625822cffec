// What a WebSocket port says to a request that gets no WebSocket: the same words whichever library carries them.

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** To a request that asks for no upgrade, or for none that we know: these ports speak nothing else. */
export function answerPlain(path: string): HttpAnswer {
  if (path === '/' || path === '/otel' || path.startsWith('/stream/'))
    return { status: 426, text: 'This port speaks WebSocket' };
  return { status: 404, text: 'Not found' };
}

/** `url` is the path and the query, as they came. */
export function urlOffence(url: string): HttpAnswer | undefined {
  if (url.length <= URL_BYTES_MAX) return undefined;
  return { status: 414, text: `The URL has ${url.length} bytes; it may have at most ${URL_BYTES_MAX}` };
}

const URL_BYTES_MAX = 8 * 1024;

/** The number and its name. */
export function statusLine(status: number): string {
  const name = STATUS_NAMES[status];
  return name === undefined ? String(status) : `${status} ${name}`;
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  414: 'URI Too Long',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
};

/** The names in a `Sec-WebSocket-Protocol` header, in the order of the client's liking. */
export function offeredSubprotocols(header: string | undefined): readonly string[] {
  return header ? header.split(',').map((name) => name.trim()) : [];
}

/** What a peer is told that sent more in one message than it may. */
export function overlongReason(bytesMax: number): string {
  return `a message may have at most ${bytesMax} bytes`;
}
