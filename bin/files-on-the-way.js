// `node bin/files-on-the-way.js [--list]`: how many source files take part in one warm operation: files with at least
// one function that runs, in the engine (all threads) and in both ends of the SDK. It builds the engine with source
// maps, and measures each operation twenty times: files that run in all of them are on the way, so that timers do not
// count.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '..');
const WARM = 300;
const ROUNDS = 20;

execFileSync(process.execPath, ['bin/build-engine.js'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, SVC_SOURCE_MAPS: '1' },
});
execFileSync('npx', ['tsc', '-p', 'src/sdk'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

const folder = mkdtempSync(join(tmpdir(), 'files-on-the-way-'));
const config = join(folder, 'svc-config.yaml');
const ports = { SVC_PORT: '39134', SVC_HTTP_PORT: '33111', STREAM_PORT: '33112', SVC_DATA: join(folder, 'data') };
writeFileSync(config, readFileSync(join(root, 'svc-config.yaml')));

const hook = pathToFileURL(join(root, 'bin/coverage-hook.js')).href;
const main = join(root, 'dist/engine/main.js');
const engine = spawn(process.execPath, ['--import', hook, main, '--config', config], {
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  env: { ...process.env, ...ports },
});
const ended = new Promise((end) => engine.once('exit', end));
const own = spawn(
  process.execPath,
  ['--import', hook, join(root, 'bin/files-on-the-way-sdk.js'), root, ports.SVC_PORT],
  {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  },
);

let lastId = 0;
const answers = new Map();
for (const child of [engine, own]) {
  child.on('message', (message) => {
    answers.get(message.id)?.(message);
    answers.delete(message.id);
  });
}

function ask(child, question) {
  const id = `${++lastId}`;
  return new Promise((answer) => {
    answers.set(id, answer);
    child.send({ id, ...question });
  });
}

try {
  await new Promise((started) => {
    answers.set('started', started);
  });
  await ask(own, { connect: true });
  for (const name of ['call', 'state', 'http', 'job']) {
    await ask(own, { run: name, times: WARM, httpPort: ports.SVC_HTTP_PORT });
    let onTheWay;
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([ask(engine, { take: true }), ask(own, { take: true })]);
      await ask(own, { run: name, times: 1, httpPort: ports.SVC_HTTP_PORT });
      const reports = await Promise.all([ask(engine, { take: true }), ask(own, { take: true })]);
      const files = new Set(reports.flatMap(({ ran }) => ran.flatMap(sourceOf)));
      onTheWay = onTheWay === undefined ? files : new Set([...onTheWay].filter((file) => files.has(file)));
    }
    process.stdout.write(`${name.padEnd(8)} ${onTheWay.size}\n`);
    if (process.argv.includes('--list')) for (const file of [...onTheWay].sort()) process.stdout.write(`  ${file}\n`);
  }
} finally {
  own.kill();
  engine.kill();
  await ended;
  rmSync(folder, { recursive: true });
}

/** The source file of a function in a bundle, or in a compiled file of the SDK; none for libraries. */
function sourceOf([url, offset]) {
  const file = fileURLToPath(url);
  const [, compiled] = /\/src\/sdk\/dist\/(.*)\.js$/.exec(file) ?? [];
  if (compiled !== undefined && !compiled.includes('bundle')) return [`src/${compiled}.ts`];
  if (!file.startsWith(join(root, 'dist'))) return [];
  const { map, lines } = mapOf(file);
  const line = lines.findLastIndex((start) => start <= offset);
  const { originalSource } = map.findEntry(line, offset - lines[line]);
  if (originalSource === undefined) return [];
  const source = relative(root, resolve(file, '..', originalSource));
  return /^(src|workers)\//.test(source) ? [source] : [];
}

function mapOf(file) {
  mapOf.known ??= new Map();
  const known = mapOf.known.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8');
  const lines = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  const read = { map: new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8'))), lines };
  mapOf.known.set(file, read);
  return read;
}
