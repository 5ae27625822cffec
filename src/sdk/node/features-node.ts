// Every part of a worker, available at once.

import { SUBPROTOCOL_BINARY, SUBPROTOCOL_COMPACT } from '../../protocol/frames/subprotocols.ts';
import { CalledSide } from '../calls/called-side.ts';
import { DeadlineWheel } from '../calls/deadline-wheel.ts';
import { callWithRetry } from '../calls/retry.ts';
import { Channels } from '../channels/channels.ts';
import { readHeaders, readWire } from '../connection/dial-options.ts';
import { createQueueClient } from '../data/queue-client.ts';
import { createStateClient } from '../data/state-client.ts';
import { checkHandler } from '../functions/checked-handler.ts';
import { Streams } from '../streams/streams.ts';
import { watchMemory } from '../telemetry/watched-memory.ts';
import { BinaryWire } from '../wire/wire-binary.ts';
import { JsonWire } from '../wire/wire-json.ts';
import type { Features } from '../worker/features.ts';
import { drain, shutDownOnSignals } from '../worker/shutdown.ts';
import { nodeMemory } from './memory-node.ts';
import { NodeTelemetry } from './telemetry-node.ts';

export const nodeFeatures: Features = {
  dialFacts: (options, platform) => ({
    headers: readHeaders(options),
    subprotocols: readWire(options.wire, platform.requestedWire()),
  }),
  // An engine that selected no form speaks none of ours.
  openWire(socket, frameBytesMax, noteReference) {
    const isCompact = socket.subprotocol === SUBPROTOCOL_COMPACT;
    if (!isCompact && socket.subprotocol !== SUBPROTOCOL_BINARY) return new JsonWire(socket, noteReference);
    return new BinaryWire(socket, watchMemory(nodeMemory, noteReference), frameBytesMax, isCompact);
  },
  createDeadlines: (clock) => new DeadlineWheel(clock),
  callWithRetry,
  checkHandler,
  createTelemetry: (parts) => new NodeTelemetry(parts),
  createCalled: (parts, registrations) => ({ side: new CalledSide(parts, registrations), expect: () => {} }),
  createChannels: (platform, settings) => new Channels(platform, settings),
  createState: createStateClient,
  createQueue: createQueueClient,
  createStreams: (parts) => new Streams(parts),
  drain,
  endOnSignals: (signals, shutDown) => (signals === undefined ? () => {} : shutDownOnSignals(signals, shutDown)),
};
