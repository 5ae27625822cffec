// One measured cell of the HTTP port: fresh processes, loaded with 64 connections, measured from outside. The load is
// wrk where the machine has it, else autocannon, which itself is the limit from about 70 000 requests per second.

import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cpuUs, endedCpuUs, type Part, startPart, stop } from './cell.ts';
import { inFolder } from './folder.ts';

export const LOAD_TOOL = spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon';
export const CONNECTIONS = 64;
/**
 * V8 continues to compile for that long: in the first two seconds an engine answers two thirds of what it does later.
 */
const WARMUP_MS = 5000;
const MEASURE_MS = 3000;

export interface HttpStage {
  readonly name: string;
  /** Requests are POST with this JSON body; absent: GET. */
  readonly body?: string;
  /** Starts the processes; the first is the one whose processor time is shown. */
  start(): Promise<{ readonly url: string; readonly parts: readonly Part[] }>;
}

export interface HttpFigures {
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly cpuUs: number;
  /** Of the program that sends the requests. */
  readonly clientCpuUs: number;
}

/** What a server part reports when it is ready. */
export interface HttpServer {
  readonly url: string;
  readonly workersUrl?: string;
}

export interface EngineStageOptions {
  /** 1 unless given. */
  readonly routes?: number;
  /** The default of the engine unless given. */
  readonly isObserved?: boolean;
  /** The checkout whose programs these are; absent: this one. */
  readonly folder?: string;
}

/** An engine with an HTTP port and one worker. */
export function engineStage(name: string, options: EngineStageOptions = {}): HttpStage {
  const { routes = 1, isObserved = true, folder } = options;
  return {
    name,
    async start() {
      const mode = isObserved ? [] : ['unobserved'];
      const server = await startPart(['bench/support/svc-http-engine.ts'], mode, folder);
      const { url, workersUrl = '' } = await server.ask<HttpServer>({ ask: 'ready' });
      const worker = await startPart(['bench/support/svc-http-worker.ts'], [workersUrl, String(routes)], folder);
      await worker.ask({ ask: 'ready' });
      return { url, parts: [server, worker] };
    },
  };
}

export async function measureHttp(stage: HttpStage): Promise<HttpFigures> {
  const { url, parts } = await stage.start();
  const target = `${url}/hello`;
  try {
    await loadHttp(target, WARMUP_MS, stage.body);
    const [front] = parts;
    const [before, clientBefore] = [cpuUs(front?.child.pid), endedCpuUs()];
    const report = await loadHttp(target, MEASURE_MS, stage.body);
    const requests = report.requestsPerSecond * (MEASURE_MS / 1000);
    return {
      ...report,
      cpuUs: (cpuUs(front?.child.pid) - before) / requests,
      clientCpuUs: (endedCpuUs() - clientBefore) / requests,
    };
  } finally {
    for (const part of parts.toReversed()) await stop(part.child);
  }
}

export function httpMedians(all: readonly HttpFigures[]): HttpFigures {
  const of = (pick: (figures: HttpFigures) => number): number => {
    const sorted = all.map(pick).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return {
    requestsPerSecond: of((figures) => figures.requestsPerSecond),
    p50Us: of((figures) => figures.p50Us),
    p99Us: of((figures) => figures.p99Us),
    cpuUs: of((figures) => figures.cpuUs),
    clientCpuUs: of((figures) => figures.clientCpuUs),
  };
}

interface HttpReport {
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

async function loadHttp(url: string, ms: number, body: string | undefined): Promise<HttpReport> {
  const seconds = String(Math.max(1, Math.round(ms / 1000)));
  if (LOAD_TOOL === 'wrk') {
    const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', url];
    if (body === undefined) return readWrk(await run('wrk', args));
    return await inFolder(async (folder) => {
      const script = join(folder, 'post.lua');
      const lines = [
        'wrk.method = "POST"',
        'wrk.headers["Content-Type"] = "application/json"',
        `wrk.body = [[${body}]]`,
      ];
      await writeFile(script, lines.join('\n'));
      return readWrk(await run('wrk', ['-s', script, ...args]));
    });
  }
  const post = body === undefined ? [] : ['-m', 'POST', '-H', 'content-type=application/json', '-b', body];
  const args = ['autocannon', '--json', '-c', String(CONNECTIONS), '-d', seconds, ...post, url];
  const report = JSON.parse(await run('npx', args));
  return {
    requestsPerSecond: report.requests.average,
    p50Us: report.latency.p50 * 1000,
    p99Us: report.latency.p99 * 1000,
  };
}

function readWrk(text: string): HttpReport {
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`wrk saw failures:\n${text}`);
  const latency = (percent: number): number => {
    const [, value, unit] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
    return Number(value) * (unit === 's' ? 1_000_000 : unit === 'ms' ? 1000 : 1);
  };
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
    p50Us: latency(50),
    p99Us: latency(99),
  };
}

function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}`))));
  });
}
