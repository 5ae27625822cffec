// Every part of a worker, available at once, and the options of the dial that a page cannot choose: headers, and the
// forms of the wire to offer.

import {
  isCompactForm,
  SUBPROTOCOL_COMPACT,
  SUBPROTOCOL_JSON,
  SUBPROTOCOL_RECORDS,
  type Subprotocol,
} from '../../protocol/frames/subprotocols.ts';
import { DeadlineWheel } from '../calls/deadline-wheel.ts';
import { SvcError } from '../calls/errors.ts';
import { CalledSide } from '../calls/incoming-calls.ts';
import { callWithRetry } from '../calls/retry.ts';
import { Channels } from '../channels/channels.ts';
import { createQueueClient } from '../data/queue-client.ts';
import { createStateClient } from '../data/state-client.ts';
import { checkHandler } from '../functions/checked-handler.ts';
import { Streams } from '../streams/streams.ts';
import { BinaryWire } from '../wire/binary-wire.ts';
import { JsonWire } from '../wire/json-wire.ts';
import type { Features } from '../worker/features.ts';
import type { WorkerOptions } from '../worker/options.ts';
import { drain, shutDownOnSignals } from '../worker/shutdown.ts';
import { nodeMemory, watchMemory } from './memory-node.ts';
import { MovingConnection } from './moving-connection.ts';
import { NodeTelemetry } from './telemetry-node.ts';

export const nodeFeatures: Features = {
  dialOptions: (options, platform) => ({
    headers: readHeaders(options),
    subprotocols: readWire(options.wire, platform.requestedWire()),
  }),
  // An engine that selected no form speaks none of ours.
  openWire(socket, frameBytesMax, noteReference) {
    if (!isCompactForm(socket.subprotocol)) return new JsonWire(socket, noteReference);
    return new BinaryWire(socket, watchMemory(nodeMemory, noteReference), frameBytesMax);
  },
  Connection: MovingConnection,
  createDeadlines: (clock) => new DeadlineWheel(clock),
  callWithRetry,
  checkHandler,
  createTelemetry: (options) => new NodeTelemetry(options),
  createCalled: (options, registrations) => ({ side: new CalledSide(options, registrations), expect: () => {} }),
  createChannels: (platform, settings) => new Channels(platform, settings),
  createState: createStateClient,
  createQueue: createQueueClient,
  createStreams: (options) => new Streams(options),
  drain,
  endOnSignals: ({ handle_signals: isOn = true }, signals, shutDown) =>
    isOn && signals !== undefined ? shutDownOnSignals(signals, shutDown) : () => {},
};

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
  if (wire === 'binary') return [SUBPROTOCOL_RECORDS, SUBPROTOCOL_COMPACT, SUBPROTOCOL_JSON];
  if (wire === 'json') return [SUBPROTOCOL_JSON];
  const source = option === undefined ? 'SVC_WIRE' : 'wire';
  throw new SvcError('INVALID_ARGUMENTS', `${source}: ${JSON.stringify(wire)}, expected binary or json`);
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TOKEN = /^[\x21-\x7e]+$/;
