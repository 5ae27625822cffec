// Checks a large frame off the router's thread: see `src/router/calls/large-frames.ts`. The bytes are shared, not
// copied; the answer is small. A hop costs about 0.1 ms, scanning 1.6 ns per byte: native-bench/scan-hop.ts has the
// figures.

import { locateMembers, type MemberRanges, type ScanOffence } from '../src/protocol/frames/envelope.ts';

export default function scanFrame(bytes: ArrayBufferLike): MemberRanges | ScanOffence {
  return locateMembers(new Uint8Array(bytes));
}
