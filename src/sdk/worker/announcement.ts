// What a worker announces on every new connection: the one engine function that the SDK calls by itself.

import type { WorkerAnnouncement } from '../../protocol/frames/frames.ts';
import { type EncodedCall, encodeValue } from '../wire/wire.ts';
import type { Settings } from './options.ts';

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

/** Equal to the version in `package.json`; a test compares the two. */
export const SDK_VERSION = '0.1.0';
