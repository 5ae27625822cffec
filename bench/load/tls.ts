// Calls and HTTP requests per second with TLS and without, by the library that carries the connections. Interleaved
// rounds of one run, medians. Connections stay open, so handshakes are not part of it.
//
//   node bench/load/tls.ts            3 rounds; needs the command openssl
//   node bench/load/tls.ts 5       more

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureCell } from '../support/cell.ts';
import { SVC_BINARY } from '../support/contenders.ts';
import { engineStage, measureHttp } from '../support/http-cell.ts';

interface Cell {
  readonly callsPerSecond: number;
  readonly callCpuUs: number;
  readonly requestsPerSecond: number;
  readonly requestCpuUs: number;
}

const VARIANTS = ['uws', 'ws'].flatMap((transport) => [false, true].map((hasTls) => ({ transport, hasTls })));
const [rounds = '3'] = process.argv.slice(2);

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-tls-'));
const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
try {
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=bench', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
  ]);
  const cells = VARIANTS.map((): Cell[] => []);
  for (let round = 0; round < Number(rounds); round++) {
    for (const [index, { transport, hasTls }] of VARIANTS.entries()) {
      cells[index]?.push(await measure(transport, hasTls));
    }
  }
  print(cells);
} finally {
  rmSync(folder, { recursive: true });
}

/** The parts read these variables. */
async function measure(transport: string, hasTls: boolean): Promise<Cell> {
  process.env.SVC_TRANSPORT = transport;
  process.env.SVC_BENCH_TLS = hasTls ? `, tls: {cert_file: ${certFile}, key_file: ${keyFile}}` : '';
  process.env.SVC_CA_FILE = hasTls ? certFile : '';
  process.env.NODE_EXTRA_CA_CERTS = certFile;
  const calls = await measureCell(SVC_BINARY, { payloadBytes: 100, inFlight: 64, warmupMs: 1_500, measureMs: 3_000 });
  const http = await measureHttp(engineStage('svc', { isObserved: false }));
  return {
    callsPerSecond: calls.callsPerSecond,
    callCpuUs: calls.serverCpuUs,
    requestsPerSecond: http.requestsPerSecond,
    requestCpuUs: http.cpuUs,
  };
}

function print(cells: readonly (readonly Cell[])[]): void {
  process.stdout.write('| library | | calls/s | engine CPU per call, µs | requests/s | engine CPU per request, µs |\n');
  process.stdout.write('|---|---|---|---|---|---|\n');
  for (const [index, { transport, hasTls }] of VARIANTS.entries()) {
    const own = cells[index] ?? [];
    const plain = cells[index - (hasTls ? 1 : 0)] ?? [];
    const column = (field: keyof Cell, digits: number): string => {
      const [value = 0, base = 1] = [own, plain].map((all) => median(all.map((cell) => cell[field])));
      return `${value.toFixed(digits)} (${(value / base).toFixed(2)})`;
    };
    const calls = `${column('callsPerSecond', 0)} | ${column('callCpuUs', 1)}`;
    const requests = `${column('requestsPerSecond', 0)} | ${column('requestCpuUs', 1)}`;
    const library = transport === 'uws' ? 'uWebSockets.js' : 'ws';
    process.stdout.write(`| ${library} | ${hasTls ? 'TLS' : 'plain'} | ${calls} | ${requests} |\n`);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
