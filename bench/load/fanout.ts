// Fan-out: one group, many subscribers, 200 B events. The stream server with plain and with batched frames, against
// publish of bare uWebSockets.js, Socket.IO, and NATS. Fresh processes for each cell, rounds interleaved.
//
//   node bench/load/fanout.ts           (five rounds)      node bench/load/fanout.ts 3

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { FanoutKind } from '../support/fanout-crowd.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const SUBSCRIBERS = [500, 1000];
const IDLE_SUBSCRIBERS = 5_000;
const EVENT_BYTES = 200;
const WARMUP_MS = 1_000;
const MEASURE_MS = 2_500;
/** Ticks of the system's clock, the unit of a process's time. */
const TICKS_PER_SECOND = 100;

interface Contender {
  readonly name: string;
  readonly kind: FanoutKind;
  readonly server: string;
}

const CONTENDERS: readonly Contender[] = [
  { name: 'svc, plain frames', kind: 'svc', server: 'bench/support/fanout-svc.ts' },
  { name: 'svc, batched frames', kind: 'svc-batched', server: 'bench/support/fanout-svc.ts' },
  { name: 'bare uWebSockets.js publish', kind: 'uws', server: 'bench/rivals/fanout-uws.ts' },
  { name: 'Socket.IO', kind: 'socketio', server: 'bench/rivals/fanout-socketio.ts' },
  { name: 'NATS', kind: 'nats', server: 'bench/rivals/nats-server.ts' },
];

interface Cell {
  readonly perSecond: number;
  /** Processor time of the server, µs. */
  readonly cpuUs: number;
}

process.stdout.write(
  '| subscribers | contender | deliveries/s | lowest | highest | server CPU µs each |\n|---|---|---|---|---|---|\n',
);
const ratios: string[] = [];
for (const subscribers of SUBSCRIBERS) {
  const cells = new Map<FanoutKind, Cell[]>(CONTENDERS.map(({ kind }) => [kind, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? CONTENDERS : [...CONTENDERS].reverse();
    for (const contender of order) cells.get(contender.kind)?.push(await measure(contender, subscribers));
  }
  for (const { name, kind } of CONTENDERS) {
    const rates = (cells.get(kind) ?? []).map(({ perSecond }) => perSecond).sort((a, b) => a - b);
    const figures = [median(rates), rates[0] ?? 0, rates.at(-1) ?? 0].map((rate) => rate.toFixed(0));
    const cpu = median((cells.get(kind) ?? []).map(({ cpuUs }) => cpuUs)).toFixed(2);
    process.stdout.write(`| ${[subscribers, name, ...figures, cpu].join(' | ')} |\n`);
  }
  const of = (kind: FanoutKind, pick: (cell: Cell) => number): number => median((cells.get(kind) ?? []).map(pick));
  const rate = (one: FanoutKind, other: FanoutKind): string =>
    (of(one, (cell) => cell.perSecond) / of(other, (cell) => cell.perSecond)).toFixed(2);
  const cpu = (one: FanoutKind, other: FanoutKind): string =>
    (of(other, (cell) => cell.cpuUs) / of(one, (cell) => cell.cpuUs)).toFixed(2);
  const row = [subscribers, rate('svc', 'uws'), rate('svc', 'socketio'), rate('svc-batched', 'nats')];
  ratios.push(`| ${[...row, cpu('svc', 'uws'), cpu('svc-batched', 'nats')].join(' | ')} |\n`);
}
process.stdout.write(
  '\n| subscribers | plain : bare publish | plain : Socket.IO | batched : NATS | by CPU: bare | by CPU: NATS |\n',
);
process.stdout.write(`|---|---|---|---|---|---|\n${ratios.join('')}`);
process.stdout.write(`\nidle subscriber: ${(await idleKib()).toFixed(1)} KiB of the engine's memory\n`);

async function measure({ kind, server: file }: Contender, subscribers: number): Promise<Cell> {
  const { server, crowd, pid } = await stand(kind, file, subscribers);
  await ask(crowd, { ask: 'publish', ms: WARMUP_MS });
  const before = cpuSeconds(pid);
  const { deliveries, seconds } = await ask<{ deliveries: number; seconds: number }>(crowd, {
    ask: 'publish',
    ms: MEASURE_MS,
  });
  const used = cpuSeconds(pid) - before;
  await end(crowd);
  await end(server);
  if (deliveries === 0) throw new Error(`${kind} delivered nothing`);
  return { perSecond: deliveries / seconds, cpuUs: (used * 1e6) / deliveries };
}

async function stand(kind: FanoutKind, file: string, subscribers: number) {
  const server = fork(file);
  const {
    url,
    publishUrl = '',
    pid,
  } = await ask<{ url: string; publishUrl?: string; pid: number }>(server, { ask: 'ready' });
  const crowd = fork('bench/support/fanout-crowd.ts', [
    kind,
    url,
    publishUrl,
    String(subscribers),
    String(EVENT_BYTES),
  ]);
  await ask(crowd, { ask: 'ready' });
  return { server, crowd, pid };
}

/** The memory of one idle subscriber: the growth of the engine's memory divided by its subscribers. */
async function idleKib(): Promise<number> {
  const few = await stand('svc', 'bench/support/fanout-svc.ts', 10);
  await wait(3_000);
  const before = rssKib(few.pid);
  await end(few.crowd);
  await end(few.server);
  const many = await stand('svc', 'bench/support/fanout-svc.ts', IDLE_SUBSCRIBERS);
  await wait(3_000);
  const after = rssKib(many.pid);
  await end(many.crowd);
  await end(many.server);
  return (after - before) / IDLE_SUBSCRIBERS;
}

/** Asks until the part has started and answers. Answers to the first question may come late. */
async function ask<Answer>(part: ChildProcess, message: { ask: 'ready' | 'publish'; ms?: number }): Promise<Answer> {
  const again = setInterval(() => message.ask === 'ready' && part.send(message), 50);
  part.send(message);
  for (;;) {
    const [answer] = await once(part, 'message');
    if (message.ask === 'publish' && !('deliveries' in answer)) continue;
    clearInterval(again);
    return answer as Answer;
  }
}

async function end(part: ChildProcess): Promise<void> {
  const gone = once(part, 'exit');
  part.disconnect();
  part.kill('SIGKILL');
  await gone;
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function rssKib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
