// The contenders of the benchmarks of calls: their programs for server, responder and caller.

import type { Contender } from './cell.ts';

const ENGINE = ['bench/support/svc-engine.ts'];

export const SVC_BINARY: Contender = {
  name: 'svc-sdk',
  server: ENGINE,
  responder: ['bench/support/svc-responder.ts'],
  caller: ['bench/support/svc-caller.ts'],
};

export const SVC_JSON: Contender = {
  name: 'svc-sdk (JSON)',
  server: ENGINE,
  responder: ['bench/support/svc-responder.ts', 'json'],
  caller: ['bench/support/svc-caller.ts', 'json'],
};

/** The engine with clients that only count: the cost of the engine itself. */
export const SVC_BARE: Contender = {
  name: 'engine, bare binary clients',
  server: ENGINE,
  responder: ['native-bench/bare-binary-client.ts', 'responder', '0'],
  caller: ['native-bench/bare-binary-client.ts', 'caller', '0'],
};

export const RAW_RELAY: Contender = {
  name: 'raw relay',
  server: ['native-bench/raw-relay-server.ts'],
  responder: ['native-bench/raw-relay-client.ts', 'responder'],
  caller: ['native-bench/raw-relay-client.ts', 'caller'],
};

export const RAW_BATCH: Contender = {
  name: 'raw batched relay',
  server: ['native-bench/raw-batch-server.ts'],
  responder: ['native-bench/raw-batch-client.ts', 'responder'],
  caller: ['native-bench/raw-batch-client.ts', 'caller'],
};

export const NATS: Contender = {
  name: 'NATS',
  server: ['bench/rivals/nats-server.ts'],
  responder: ['bench/rivals/nats-responder.ts'],
  caller: ['bench/rivals/nats-caller.ts'],
};

export const MOLECULER: Contender = {
  name: 'Moleculer, TCP',
  server: undefined,
  responder: ['bench/rivals/moleculer-responder.ts'],
  caller: ['bench/rivals/moleculer-caller.ts'],
};
