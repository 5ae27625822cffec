// The top-level settings that this version reads, and the refusal of those that belong to later ones (PD-29).

import {
  anything,
  either,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  oneOf,
  optional,
  secretText,
  text,
  type ValueOf,
} from '../core/config-fields/fields.ts';
import type { FieldProblem } from '../core/config-fields/fields-check.ts';
import { redactUrl } from '../core/config-fields/redaction.ts';
import { parseAddressBlock } from '../core/limits/client-address.ts';
import { readAllowList } from '../core/limits/outgoing-rules.ts';
import { CLUSTER_FIELD, findClusterContradictions } from './cluster-settings.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

const balance = oneOf(['least_in_flight', 'newest', 'reject_duplicates']);

/** Limits of the trusted bridge: the rows of guarantees 4 that no module field names. */
const trustedLimits = fields({
  frame_bytes: limit(
    16 * MIB,
    KIB,
    256 * MIB,
    'Largest message from a worker; a larger one closes its connection (1009)',
  ),
  connections: limit(10_000, 1, 1_000_000, 'Open connections of one port; one more gets 503'),
  connections_per_second: limit(500, 1, 100_000, 'New connections of one port per second; more get 429'),
  outbound_buffer_bytes: limit(
    16 * MIB,
    KIB,
    GIB,
    'Bytes waiting for one worker; above it the worker gets no new calls',
  ),
  outbound_close_bytes: limit(
    32 * MIB,
    KIB,
    GIB,
    'Bytes waiting for one worker; above it the connection is closed (4408)',
  ),
  in_flight_per_worker: limit(1024, 1, 1_000_000, 'Calls that one worker runs at a time'),
  in_flight_per_caller: limit(4096, 1, 1_000_000, 'Calls that one connection waits for at a time'),
  functions_per_worker: limit(5000, 1, 1_000_000, 'Functions that one worker may register'),
  triggers_per_worker: limit(5000, 1, 1_000_000, 'Triggers that one worker may register'),
});

const engineLimits = fields({
  in_flight: limit(65_536, 1, 10_000_000, 'Calls that the whole engine has in flight. Half are for trusted callers'),
  waiting_calls: limit(
    8192,
    0,
    1_000_000,
    'Calls that wait for a worker below its limit; one more gets OVERLOADED. One caller has half. 0: none waits',
  ),
  waiting_bytes: limit(128 * MIB, MIB, 64 * GIB, 'Bytes of these calls together'),
  outbound_buffers_bytes: limit(512 * MIB, MIB, 64 * GIB, 'Bytes waiting for all connections together'),
  channels: limit(10_000, 1, 1_000_000, 'Open channels; one more gets OVERLOADED. Half are for trusted callers'),
  channel_buffer_bytes: limit(
    MIB,
    256 * KIB,
    GIB,
    'Bytes of one channel kept in memory for its reader; a writer with flow control sends half of it ahead',
  ),
  channel_buffers_bytes: limit(128 * MIB, 256 * KIB, 64 * GIB, 'Bytes of all channels together kept in memory'),
  channel_spill_bytes: limit(
    64 * MIB,
    0,
    64 * GIB,
    'Bytes of one channel kept in a temporary file beyond that; then its writer is closed (1013). 0: no file',
  ),
  channel_spills_bytes: limit(GIB, 0, 1024 * GIB, 'Bytes of all channels together kept in temporary files'),
});

/** Limits of ports with `rbac`, for restricted connections. */
const browserLimits = fields({
  frame_bytes: limit(MIB, KIB, 256 * MIB, 'Largest message; a larger one closes its connection (1009)'),
  connections: limit(10_000, 1, 1_000_000, 'Open connections of one port; one more gets 503'),
  connections_per_second: limit(500, 1, 100_000, 'New connections of one port per second; more get 429'),
  connections_per_address: limit(200, 1, 1_000_000, 'Open connections of one address; one more gets 429'),
  connections_per_second_per_address: limit(50, 1, 100_000, 'New connections of one address per second; more get 429'),
  auth_calls: limit(256, 1, 100_000, 'Connections that wait for the auth function; one more gets 503'),
  ask_timeout_ms: limit(5_000, 1, 3_600_000, 'How long auth functions, registration hooks and middleware may take'),
  registration_timeout_ms: limit(60_000, 1_000, 3_600_000, 'Time to register or call something; then closed (4401)'),
  max_age_ms: limit(43_200_000, 1_000, 31_536_000_000, 'Age at which a connection has to authenticate again (4402)'),
  outbound_close_bytes: limit(
    4 * MIB,
    KIB,
    GIB,
    'Bytes waiting for one connection; above it the connection is closed (4408)',
  ),
  in_flight_per_worker: limit(1024, 1, 1_000_000, 'Calls that one connection runs at a time'),
  in_flight_per_caller: limit(64, 1, 1_000_000, 'Calls that one connection waits for at a time'),
  functions_per_worker: limit(100, 1, 1_000_000, 'Functions that one connection may register'),
  triggers_per_worker: limit(100, 1, 1_000_000, 'Triggers that one connection may register'),
  messages_per_second: limit(
    200,
    1,
    1_000_000,
    'Messages of one connection; more are refused, and closed after 10 s (4429)',
  ),
  messages_burst: limit(400, 1, 1_000_000, 'Messages that one connection may send at once'),
  channels: limit(64, 1, 1_000_000, 'Open channels that one connection made; one more gets OVERLOADED'),
  channel_bytes: limit(
    48 * MIB,
    MIB,
    64 * GIB,
    'Bytes kept for readers of the channels that one connection made; beyond it a writer is closed (1013)',
  ),
  channels_per_second: limit(
    20,
    1,
    1_000_000,
    'New channels of one connection per second, and at once; more get RATE_LIMITED',
  ),
});

/** Limits of the stream server, for untrusted clients, and of the contents of its store. */
const streamLimits = fields({
  frame_bytes: limit(
    64 * KIB,
    KIB,
    16 * MIB,
    'Largest message from a client; a larger one closes its connection (1009)',
  ),
  connections: limit(50_000, 1, 1_000_000, 'Open connections; one more gets 503'),
  connections_per_second: limit(500, 1, 100_000, 'New connections per second; more get 429'),
  connections_per_address: limit(200, 1, 1_000_000, 'Open connections of one address; one more gets 429'),
  connections_per_second_per_address: limit(50, 1, 100_000, 'New connections of one address per second; more get 429'),
  auth_calls: limit(256, 1, 100_000, 'Connections that wait for the auth function; one more gets 503'),
  ask_timeout_ms: limit(5_000, 1, 3_600_000, 'How long the auth function and handlers of stream:join may take'),
  registration_timeout_ms: limit(60_000, 1_000, 3_600_000, 'Time to join something; then closed (4401)'),
  outbound_buffer_bytes: limit(
    MIB,
    KIB,
    GIB,
    'Unread bytes of events of one client; above it the client is closed (4408)',
  ),
  outbound_messages: limit(1_000, 1, 1_000_000, 'Unread messages of one client; above it the client is closed (4408)'),
  messages_per_second: limit(
    200,
    1,
    1_000_000,
    'Messages of one client; more are refused, and closed after 10 s (4429)',
  ),
  messages_burst: limit(400, 1, 1_000_000, 'Messages that one client may send at once'),
  subscriptions: limit(100, 1, 100_000, 'Subscriptions of one connection; one more is refused'),
  value_bytes: limit(4 * MIB, 1, 7 * MIB, 'Largest item; a larger one gets PAYLOAD_TOO_LARGE'),
  history_events: limit(1_000, 0, 1_000_000, 'Events kept of one group for clients that reconnect'),
  history_ms: limit(300_000, 0, 86_400_000, 'How long they are kept'),
  history_bytes: limit(MIB, 0, GIB, 'Bytes of them kept of one group'),
});

const httpLimits = fields({
  connections: limit(10_000, 1, 1_000_000, 'Open connections of the HTTP port; one more gets 503'),
  body_buffers_bytes: limit(256 * MIB, MIB, 64 * GIB, 'Bytes of request bodies kept in memory; more get 503'),
  answer_buffers_bytes: limit(
    256 * MIB,
    32 * MIB,
    64 * GIB,
    'Bytes of answers that HTTP clients have not read; then the connection that has waited longest is closed',
  ),
});

export const topLevel = fields({
  workers: listOf(anything(), { default: [], help: 'Modules, and programs of your own' }),
  modules: listOf(anything(), { default: [], help: 'The same list under its older name' }),
  threads: either(integer({ min: 1, max: 64 }), oneOf(['auto']), {
    default: 'auto',
    help: 'Router threads, which share the ports of workers, HTTP and streams; auto: half of the cores, 8 at most',
  }),
  pool_threads: optional(
    integer({
      min: 1,
      max: 1024,
      help: 'Threads that check large frames and compute large updates for a Redis; by default one per core, 4 at most',
    }),
  ),
  compat: optional(oneOf(['iii', 'none'], { help: 'iii: answer as iii does wherever the product differs from it' })),
  strict: flag({ default: false, help: 'Security warnings at the start become errors' }),
  bridge_token: optional(
    secretText({
      bytesMin: 32,
      help: 'Token that workers and the console must present; required for any but loopback',
    }),
  ),
  mark_key: optional(
    secretText({
      bytesMin: 32,
      help: 'Key of the marks of log triggers, the same for engines that share work; otherwise each generates its own',
    }),
  ),
  allowed_hosts: listOf(text(), { default: [], help: 'Host names and addresses under which the engine answers' }),
  drain_timeout_ms: integer({
    min: 0,
    max: 3_600_000,
    default: 25_000,
    help: 'How long running calls may finish when the engine stops',
  }),
  log_payloads: flag({ default: false, help: 'Quote the beginning of frames that cannot be read in the log' }),
  balance: either(balance, mapOf(balance), {
    default: 'least_in_flight',
    help:
      'Which of several workers of a function gets a call: the least busy one, or the newest; with ' +
      'reject_duplicates there is only one. One word, or words by the first segment of the function id and ' +
      "'default' for the others",
  }),
  limits: fields({
    trusted: trustedLimits,
    engine: engineLimits,
    browser: browserLimits,
    stream: streamLimits,
    http: httpLimits,
  }),
  trusted_proxies: listOf(text(), {
    default: [],
    help: 'Addresses or CIDR blocks of proxies whose X-Forwarded-For is trusted',
  }),
  outgoing: fields({
    allow: listOf(text(), {
      default: [],
      help: 'Hosts, addresses, CIDR blocks that URL functions may reach in plain http, on any port, also inside',
    }),
  }),
  cluster: CLUSTER_FIELD,
});

export type Settings = Omit<ValueOf<typeof topLevel>, 'workers' | 'modules'>;

/** Settings that are valid one by one and contradict each other. */
export function findContradictions({
  limits,
  trusted_proxies: proxies,
  outgoing,
  cluster,
}: Settings): readonly FieldProblem[] {
  const problems = proxies.flatMap((text, index): FieldProblem[] => {
    if (parseAddressBlock(text) !== undefined) return [];
    const message = `Must be an address or a CIDR block such as 10.0.0.0/8, found '${redactUrl(text)}'.`;
    return [{ path: ['trusted_proxies', index], at: 'value', message }];
  });
  problems.push(...unlistable(outgoing.allow), ...findClusterContradictions(cluster));
  const { outbound_buffer_bytes: bufferBytes, outbound_close_bytes: closeBytes } = limits.trusted;
  if (closeBytes >= bufferBytes) return problems;
  return [
    ...problems,
    {
      path: ['limits', 'trusted', 'outbound_close_bytes'],
      at: 'value',
      message:
        `Must be at least limits.trusted.outbound_buffer_bytes (${bufferBytes}), found the number ${closeBytes}: ` +
        'a slow worker would be closed before it stops getting new calls.',
    },
  ];
}

function unlistable(entries: readonly string[]): FieldProblem[] {
  return entries.flatMap((text, index): FieldProblem[] => {
    if (!('wrong' in readAllowList([text]))) return [];
    const message = `Must be a host name, an address or a CIDR block such as 10.0.0.0/8, found '${redactUrl(text)}'.`;
    return [{ path: ['outgoing', 'allow', index], at: 'value', message }];
  });
}

function limit(byDefault: number, min: number, max: number, help: string) {
  return integer({ default: byDefault, min, max, help });
}
