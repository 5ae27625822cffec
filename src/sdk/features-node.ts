// All there is, at once.

import { SUBPROTOCOL_BINARY, SUBPROTOCOL_COMPACT } from '../protocol/subprotocols.ts';
import { CalledSide } from './called-side.ts';
import { Channels } from './channels.ts';
import { checkHandler } from './checked-handler.ts';
import { DeadlineWheel } from './deadline-wheel.ts';
import { readHeaders, readWire } from './dial-options.ts';
import type { Features } from './features.ts';
import { nodeMemory } from './memory-node.ts';
import { createQueueClient } from './queue-client.ts';
import { callWithRetry } from './retry.ts';
import { drain, shutDownOnSignals } from './shutdown.ts';
import { createStateClient } from './state-client.ts';
import { Streams } from './streams.ts';
import { NodeTelemetry } from './telemetry-node.ts';
import { watchMemory } from './watched-memory.ts';
import { BinaryWire } from './wire-binary.ts';
import { JsonWire } from './wire-json.ts';

export const nodeFeatures: Features = {
  dialFacts: (options, platform) => ({
    headers: readHeaders(options),
    subprotocols: readWire(options.wire, platform.requestedWire()),
  }),
  // An engine that chose no form knows no forms.
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
