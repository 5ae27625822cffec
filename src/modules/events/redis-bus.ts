// The bus between engines: every engine subscribes to one channel of Redis and publishes there, and receives its own
// events there too.
//
// A message is one line of JSON (version, topic, its place in a chain of calls), followed by the data as it was sent.

import type { RedisLink } from '../../effects/redis.ts';
import { isEventHeader } from '../../generated/module-payloads.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Event, EventBus, EventHeader } from './bus.ts';

export interface RedisBusOptions {
  /** Rejects when the settings can never work. */
  readonly createLink: () => Promise<RedisLink>;
  readonly channel: string;
  /** A message on the channel that no engine of this version wrote. */
  readonly onUnreadable: () => void;
}

export function redisBus({ createLink, channel, onUnreadable }: RedisBusOptions): EventBus {
  let link: RedisLink | undefined;
  return {
    get trouble() {
      return link === undefined ? 'not started' : link.trouble;
    },
    async start(deliver) {
      link = await createLink();
      await link.open();
      await link.subscribe(channel, (message) => {
        const event = readEvent(message);
        if (event === undefined) onUnreadable();
        else deliver(event);
      });
    },
    async publish(event) {
      const engines = await link?.run(['PUBLISH', channel, writeEvent(event)]);
      return { engines: Number(engines) };
    },
    stop: () => link?.close(),
    details: () => ({ address: link?.address, channel }),
  };
}

const NEWLINE = 0x0a;

function writeEvent({ topic, depth, traceparent, baggage, data }: Event): Buffer {
  const header: EventHeader = { v: 1, topic, depth, traceparent, baggage };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`, 'utf8'), Buffer.from(data, 'latin1')]);
}

/** Any other program with access to that Redis may have written it. */
function readEvent(message: Buffer): Event | undefined {
  const end = message.indexOf(NEWLINE);
  const header = parse(message.toString('utf8', 0, Math.max(end, 0)));
  const data: RawJson | undefined = Payload.ofBytes(message, end + 1, message.length).asText();
  if (!isEventHeader(header) || data === undefined) return undefined;
  const { topic, depth, traceparent, baggage } = header;
  return { topic, depth, traceparent, baggage, data };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
