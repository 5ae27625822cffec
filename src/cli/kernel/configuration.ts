// Reads the configuration file for a command: which file, its text, and its problems.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type LoadedConfig, type LoadResult, loadConfig } from '../../config/load.ts';
import { type ConfigProblem, formatProblem } from '../../config/problem.ts';
import { readConfigFile } from '../../config/read-file.ts';
import { StartFailure } from '../../effects/start-failure.ts';
import { assertSafeToStart, declareModules } from '../../engine/start-checks.ts';
import type { Terminal } from '../text/terminal.ts';
import { CliFailure, EXIT, type ExitCode } from './failures.ts';
import type { FlagTable } from './flags.ts';

export const CONFIG_FILE = 'svc-config.yaml';

export const CONFIG_FLAGS = {
  config: { kind: 'text', placeholder: '<file>', help: `The configuration file. Without it: ./${CONFIG_FILE}` },
} as const satisfies FlagTable;

export interface ReadConfiguration {
  /** The name as given; undefined for the built-in defaults. */
  readonly file: string | undefined;
  readonly text: string;
  readonly config: LoadedConfig;
}

/** The given file, or the one in the current folder, checked as `svc start` checks it. */
export async function readConfiguration(named: string | undefined, terminal: Terminal): Promise<ReadConfiguration> {
  const file = named ?? CONFIG_FILE;
  const path = resolve(terminal.cwd, file);
  assertFileThere(named, terminal);
  const read = await readConfigFile(path);
  if (!read.ok) throw invalidConfiguration(file, [read.problem]);
  return { file, text: read.text, config: check(read.text, file, terminal) };
}

/** A start in the wrong folder is reported first, before other problems. */
export function assertFileThere(named: string | undefined, { cwd }: Terminal): void {
  if (named === undefined && !existsSync(resolve(cwd, CONFIG_FILE))) throw noFile(cwd);
}

/** The configuration without a file. */
export function defaultConfiguration(terminal: Terminal): ReadConfiguration {
  return { file: undefined, text: '', config: check('', 'built-in defaults', terminal) };
}

/** A failed start of the engine, as a failure of the command. */
export function startFailure(error: StartFailure): CliFailure {
  const inUse = error.exitCode === EXIT.conflict;
  return new CliFailure({
    code: inUse ? 'PORT_IN_USE' : error.exitCode === EXIT.configuration ? 'CONFIG_INVALID' : 'START_FAILED',
    message: `The engine cannot start: ${error.message}`,
    exitCode: knownExitCode(error.exitCode),
    ...(inUse ? { hint: IN_USE } : {}),
  });
}

const IN_USE =
  'Another engine may be running; check with: svc worker list. A second engine needs other ports and another ' +
  'file_path; svc dev --port-offset 100 moves all ports.';

/** The problems of a text that is not in the file yet. */
export function problemsIn(text: string, file: string, terminal: Terminal): readonly ConfigProblem[] {
  const result = load(text, file, terminal);
  return result.ok ? [] : result.problems;
}

function load(text: string, file: string, { env }: Terminal): LoadResult {
  return loadConfig({ text, file, env, ...declareModules() });
}

function check(text: string, file: string, terminal: Terminal): LoadedConfig {
  const result = load(text, file, terminal);
  if (!result.ok) throw invalidConfiguration(file, result.problems);
  try {
    assertSafeToStart(result.config);
  } catch (error) {
    throw error instanceof StartFailure ? startFailure(error) : error;
  }
  return result.config;
}

export function invalidConfiguration(file: string, problems: readonly ConfigProblem[]): CliFailure {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new CliFailure({
    code: 'CONFIG_INVALID',
    message: `The configuration has ${count}:`,
    exitCode: EXIT.configuration,
    lines: problems.flatMap((problem) => formatProblem(problem).split('\n')),
    details: { file, problems },
  });
}

function noFile(folder: string): CliFailure {
  return new CliFailure({
    code: 'USAGE',
    message: `There is no ${CONFIG_FILE} in ${folder}.`,
    exitCode: EXIT.usage,
    hint: 'Give a file with --config <file>, or start without one: svc start --use-default-config',
    showHelp: true,
  });
}

function knownExitCode(code: number): ExitCode {
  return Object.values(EXIT).find((known) => known === code) ?? EXIT.failed;
}
