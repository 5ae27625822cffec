// Options of the dial: headers, and the forms of the wire to offer. A page can choose neither.

import {
  SUBPROTOCOL_BINARY,
  SUBPROTOCOL_COMPACT,
  SUBPROTOCOL_JSON,
  type Subprotocol,
} from '../../protocol/frames/subprotocols.ts';
import { SvcError } from '../calls/errors.ts';
import type { WorkerOptions } from '../worker/options.ts';

/** Refuses what HTTP cannot carry: the socket would throw at every dial, and quote the token. */
export function readHeaders({ headers = {}, token }: WorkerOptions): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value)) continue;
    throw new SvcError('INVALID_ARGUMENTS', `headers: '${name}' has a name or a value that HTTP cannot carry`);
  }
  if (token === undefined) return { ...headers };
  if (!TOKEN.test(token)) {
    throw new SvcError('INVALID_ARGUMENTS', 'token: empty, or with spaces, line breaks or letters outside ASCII');
  }
  return { ...headers, Authorization: `Bearer ${token}` };
}

export function readWire(option: string | undefined, requested: string | undefined): readonly Subprotocol[] {
  const wire = option ?? requested ?? 'binary';
  if (wire === 'binary') return [SUBPROTOCOL_COMPACT, SUBPROTOCOL_BINARY, SUBPROTOCOL_JSON];
  if (wire === 'json') return [SUBPROTOCOL_JSON];
  const place = option === undefined ? 'SVC_WIRE' : 'wire';
  throw new SvcError('INVALID_ARGUMENTS', `${place}: ${JSON.stringify(wire)}, expected binary or json`);
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TOKEN = /^[\x21-\x7e]+$/;
