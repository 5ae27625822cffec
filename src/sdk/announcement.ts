// What a worker says of itself on every new connection: the one engine function the SDK calls unasked.

import type { WorkerAnnouncement } from '../protocol/frames.ts';
import type { Settings } from './options.ts';
import { SDK_VERSION } from './version.ts';
import { type EncodedCall, encodeValue } from './wire.ts';

export function makeAnnouncement({ host, name, description, timeoutMs, maxInFlight }: Settings): EncodedCall {
  const { runtime, os, pid, isolation } = host;
  // Fields that are undefined are not sent.
  const announcement: { [Field in keyof WorkerAnnouncement]: WorkerAnnouncement[Field] | undefined } = {
    runtime,
    version: SDK_VERSION,
    name,
    description,
    os,
    pid,
    isolation,
    max_in_flight: maxInFlight,
  };
  return {
    number: 0,
    functionId: 'engine::workers::register',
    timeoutMs,
    action: undefined,
    traceparent: undefined,
    baggage: undefined,
    depth: 0,
    metadata: undefined,
    data: encodeValue(announcement),
  };
}
