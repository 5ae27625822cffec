// All benchmarks in one run, or some by name. Each part is a program of its own that prints tables; their figures go to
// bench/results.json and RESULTS.md as soon as a part is done, so a run that was broken off can be resumed.
//
//   npm run bench                          every part, about an hour
//   npm run bench -- http state            these two
//   npm run bench -- --resume              the parts that have no figures of this commit
//   npm run bench -- --compare <commit>    this tree against that commit, in one run; --rounds 4 for fewer than 10
//   npm run bench -- --list                the parts

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareWith } from './compare.ts';
import { PARTS, type Part } from './parts.ts';
import { type Results, readOutput, showResults, withFigures } from './report/results.ts';

const JSON_FILE = join(import.meta.dirname, 'results.json');
const PAGE = join(import.meta.dirname, 'RESULTS.md');

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    compare: { type: 'string' },
    rounds: { type: 'string', default: '10' },
  },
});

if (options.list) {
  for (const { name, title, minutes } of PARTS)
    print(`${name.padEnd(14)} ${String(minutes).padStart(2)} min  ${title}`);
} else if (options.compare !== undefined) {
  await compareWith(options.compare, roundsOf(options.rounds));
} else {
  await runParts(chosen());
}

function roundsOf(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  print(`error: --rounds is '${text}', expected a whole number from 1`);
  process.exit(64);
}

function chosen(): readonly Part[] {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    print(`error: there is no part ${unknown.join(', ')}. Parts: ${PARTS.map(({ name }) => name).join(', ')}`);
    process.exit(64);
  }
  const parts = names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
  const { parts: measured } = results();
  return options.resume ? parts.filter(({ name }) => measured[name]?.commit !== commitOfTree()) : parts;
}

async function runParts(parts: readonly Part[]): Promise<void> {
  const failed: string[] = [];
  for (const part of parts) {
    const begunMs = performance.now();
    print(`\n# ${part.title} (about ${part.minutes} min)\n`);
    const output = await outputOf(part);
    if (output === undefined) {
      failed.push(part.name);
      continue;
    }
    const command = ['npm run bench --', part.name].join(' ');
    const seconds = Math.round((performance.now() - begunMs) / 1000);
    const figures = { date: new Date().toISOString().slice(0, 10), commit: commitOfTree(), command, seconds };
    const all = withFigures(results(), part, { ...figures, ...readOutput(output) });
    writeFileSync(JSON_FILE, `${JSON.stringify(all, undefined, 2)}\n`);
    writeFileSync(PAGE, showResults(readFileSync(PAGE, 'utf8'), PARTS, all));
  }
  if (failed.length === 0) return;
  print(`\nerror: without figures: ${failed.join(', ')}. Repeat them: npm run bench -- ${failed.join(' ')}`);
  process.exitCode = 1;
}

/** What it printed; undefined if it failed. */
async function outputOf({ program, args }: Part): Promise<string | undefined> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const [code] = await once(child, 'close');
  return code === 0 ? output : undefined;
}

function results(): Results {
  return existsSync(JSON_FILE) ? JSON.parse(readFileSync(JSON_FILE, 'utf8')) : { parts: {} };
}

/** With a mark where files were changed after the commit. */
function commitOfTree(): string {
  const commit = git('rev-parse', '--short', 'HEAD');
  return git('status', '--porcelain', '--', 'src', 'workers') === '' ? commit : `${commit}+`;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
