// Load on an HTTP address: wrk where the machine has it, else autocannon, which itself is the limit from about 70 000
// requests per second.

import { spawn, spawnSync } from 'node:child_process';

export interface HttpReport {
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

export const LOAD_TOOL = spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon';

export async function loadHttp(url: string, connections: number, ms: number): Promise<HttpReport> {
  const seconds = String(Math.max(1, Math.round(ms / 1000)));
  if (LOAD_TOOL === 'wrk') {
    return readWrk(await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', url]));
  }
  const args = ['autocannon', '--json', '-c', String(connections), '-d', seconds, url];
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
