// A thread that sends every control frame back that it gets through shared memory.

import { workerData } from 'node:worker_threads';
import { systemClock } from '../../../src/effects/clock.ts';
import { type SharedLine, SharedMemoryCarrier } from '../../../src/effects/shared-memory/carrier.ts';
import { asByteString } from '../../../src/protocol/json/byte-string.ts';

const line: SharedLine = workerData;
const carrier = new SharedMemoryCarrier({
  lines: [line],
  clock: systemClock,
  load: () => ({ callsInFlight: 0, isDraining: false }),
  fail: (reason) => {
    throw new Error(reason);
  },
});
const link = carrier.connect(line.peerId, {
  up: () => {},
  down: () => line.port.close(),
  frames: (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      const end = at + 4 + bytes.readUInt32LE(at);
      link.open()?.control(asByteString(bytes.toString('latin1', at + 8, end)));
      at = end;
    }
  },
});
line.port.ref();
