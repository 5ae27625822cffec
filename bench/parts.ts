// The parts of `npm run bench`, in the order in which they run. A new one is a program that prints Markdown, and one
// line here.

export interface Part {
  readonly name: string;
  /** The heading of its figures. */
  readonly title: string;
  readonly program: string;
  /** Fewer rounds than the program's default, so that all parts take an hour. */
  readonly args: readonly string[];
  readonly minutes: number;
  /** The cell that the line of history keeps: the first one of its column in the row that begins with these texts. */
  readonly headline: { readonly row: string; readonly column: string; readonly says: string };
}

const THREE = ['3'];

export const PARTS: readonly Part[] = [
  {
    name: 'rivals',
    title: 'Calls against NATS and Moleculer',
    program: 'bench/load/rivals.ts',
    args: THREE,
    minutes: 4,
    headline: { row: '100 B, 64 in flight', column: 'calls/s: svc : NATS', says: 'times the calls of NATS' },
  },
  {
    name: 'invoke',
    title: 'Calls in both forms of the wire',
    program: 'bench/load/invoke.ts',
    args: ['2'],
    minutes: 6,
    headline: { row: '100 | 64 | svc-sdk', column: 'calls/s', says: 'calls/s' },
  },
  {
    name: 'http',
    title: 'HTTP port',
    program: 'bench/load/http.ts',
    args: THREE,
    minutes: 4,
    headline: { row: 'Fastify', column: 'svc is', says: 'of Fastify' },
  },
  {
    name: 'state',
    title: 'State',
    program: 'bench/load/state.ts',
    args: ['2'],
    minutes: 4,
    headline: { row: 'set', column: 'of Redis', says: 'of a Redis that syncs every write' },
  },
  {
    name: 'queue',
    title: 'Queues',
    program: 'bench/load/queue.ts',
    args: ['2', '0.3'],
    minutes: 5,
    headline: { row: 'BullMQ, always', column: 'of ours', says: 'of ours: BullMQ, syncing always' },
  },
  {
    name: 'routers',
    title: 'Router threads',
    program: 'bench/load/routers.ts',
    args: ['2'],
    minutes: 4,
    headline: { row: 'CPU per call', column: 'figure', says: 'times the CPU of a call that stays on its router' },
  },
  {
    name: 'fanout',
    title: 'Fan-out of streams',
    program: 'bench/load/fanout.ts',
    args: ['2'],
    minutes: 4,
    headline: { row: '500 | svc, plain frames', column: 'deliveries/s', says: 'deliveries/s' },
  },
  {
    name: 'cron',
    title: 'Cron',
    program: 'bench/load/cron.ts',
    args: [],
    minutes: 1,
    headline: { row: '', column: 'p99', says: 'late at p99' },
  },
  {
    name: 'observability',
    title: 'What observation costs',
    program: 'bench/load/observability.ts',
    args: ['4'],
    minutes: 7,
    headline: { row: 'ratio 1', column: 'calls/s', says: 'calls/s with every call kept' },
  },
  {
    name: 'telemetry',
    title: 'Telemetry store',
    program: 'bench/load/telemetry-store.ts',
    args: [],
    minutes: 1,
    headline: { row: '', column: 'loop delay p99', says: 'delay of the loop at p99' },
  },
  {
    name: 'scale',
    title: 'Large numbers',
    program: 'bench/load/scale.ts',
    args: ['1'],
    minutes: 2,
    headline: { row: 'memory of the engine per idle worker connection', column: 'figure', says: 'per idle connection' },
  },
  {
    name: 'bulk',
    title: 'One bulk caller',
    program: 'bench/load/bulk.ts',
    args: ['3'],
    minutes: 3,
    headline: { row: '10000 calls at once', column: 'p99, ms', says: 'ms at p99 for the other caller' },
  },
  {
    name: 'tls',
    title: 'TLS against plain text',
    program: 'bench/load/tls.ts',
    args: ['2'],
    minutes: 3,
    headline: { row: 'uWebSockets.js | TLS', column: 'calls/s', says: 'calls/s with TLS' },
  },
  {
    name: 'platforms',
    title: 'Versions of Node',
    program: 'bench/load/platforms.ts',
    args: ['2'],
    minutes: 4,
    headline: { row: '24', column: 'calls/s', says: 'calls/s on Node 24' },
  },
  {
    name: 'console',
    title: 'Console',
    program: 'bench/load/console.ts',
    args: [],
    minutes: 4,
    headline: { row: '', column: 'median', says: 'for the first of them' },
  },
  {
    name: 'cluster',
    title: 'Engines of a cluster',
    program: 'bench/cluster/cluster.ts',
    args: THREE,
    minutes: 3,
    headline: { row: '256', column: 'calls/s: remote : NATS', says: 'times the calls of NATS, between two engines' },
  },
  {
    name: 'idle',
    title: 'Idle',
    program: 'bench/load/idle.ts',
    args: [],
    minutes: 1,
    headline: { row: 'engine, idle memory', column: 'median', says: 'idle memory' },
  },
];
