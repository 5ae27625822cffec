// How late cron ticks are when many triggers are due in the same second, from the scheduled moment to the handler in
// another process, with the claim of every tick on the disk before its call.
//
//   node bench/load/cron.ts [triggers] [seconds]

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuUs } from '../support/cell.ts';

const [triggers = '1000', seconds = '20'] = process.argv.slice(2);
/** V8 compiles the code during some thousand ticks. Until then they are up to three times as late. */
const WARM_UP_S = 10;

process.stdout.write('| claims | ticks | p50 | p99 | worst | engine CPU |\n|---|---|---|---|---|---|\n');
for (const method of ['file_based', 'in_memory']) process.stdout.write(`${await measure(method)}\n`);

async function measure(method: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const config = join(folder, 'svc-config.yaml');
  const store = `{store_method: ${method}, file_path: ${join(folder, 'data')}}`;
  const cron = `{name: svc-cron, config: {adapter: {name: kv, config: ${store}}}}`;
  writeFileSync(config, `workers: [{name: svc-worker-manager, config: {port: 0}}, ${cron}]\n`);
  const engine = spawn(process.execPath, ['bin/svc.js', 'start', '--config', config], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await addressOf(engine);
    const worker = spawn(process.execPath, ['bench/support/cron-worker.ts', url, triggers, seconds, `${WARM_UP_S}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const before = cpuUs(engine.pid);
    const chunks: Buffer[] = [];
    worker.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(worker, 'close');
    const cpuShare = (cpuUs(engine.pid) - before) / 1e6 / (Number(seconds) + WARM_UP_S);
    // The worker of this benchmark prints a list of numbers.
    const late = (JSON.parse(Buffer.concat(chunks).toString('utf8')) as number[]).sort((a, b) => a - b);
    const at = (share: number): string => `${late[Math.min(late.length - 1, Math.floor(late.length * share))]} ms`;
    const expected = Number(triggers) * Number(seconds);
    const cpu = `${(cpuShare * 100).toFixed(0)} %`;
    return `| ${[method, `${late.length} of ${expected}`, at(0.5), at(0.99), at(1), cpu].join(' | ')} |`;
  } finally {
    engine.kill('SIGKILL');
    await once(engine, 'close');
    rmSync(folder, { recursive: true });
  }
}

async function addressOf(engine: ChildProcess): Promise<string> {
  let seen = '';
  return await new Promise((resolve) => {
    engine.stderr?.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      const url = /ws:\/\/\S+/.exec(seen)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}
