// Answers of a WebSocket port to requests that get no WebSocket: the same for both libraries.

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** The answer to a request that asks for no upgrade, or for an unknown one: these ports speak nothing else. */
export function answerPlain(path: string): HttpAnswer {
  if (path === '/' || path === '/otel' || path.startsWith('/stream/'))
    return { status: 426, text: 'This port speaks WebSocket' };
  return { status: 404, text: 'Not found' };
}

/** `url` is the path and the query, as received. */
export function urlOffence(url: string): HttpAnswer | undefined {
  if (url.length <= URL_BYTES_MAX) return undefined;
  return { status: 414, text: `The URL has ${url.length} bytes; the limit is ${URL_BYTES_MAX}` };
}

const URL_BYTES_MAX = 8 * 1024;

/** The status code and its name. */
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

/** The names in a `Sec-WebSocket-Protocol` header, in the client's order of preference. */
export function offeredSubprotocols(header: string | undefined): readonly string[] {
  return header ? header.split(',').map((name) => name.trim()) : [];
}

/** The close reason for a client that sent a message over the limit. */
export function overlongReason(bytesMax: number): string {
  return `the limit of a message is ${bytesMax} bytes`;
}
