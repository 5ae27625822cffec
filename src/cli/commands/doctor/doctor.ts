import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../config/load.ts';
import type { Trust } from '../../../effects/certificates.ts';
import { ownEngine } from '../../../engine/port-tls.ts';
import { withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CONFIG_FILE, CONFIG_FLAGS, defaultConfiguration, readConfiguration } from '../../kernel/configuration.ts';
import { type CliFailure, EXIT, toFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafeLines } from '../../text/display-text.ts';
import { type Finding, fail, ok, type Project, warn } from './finding.ts';
import { machineFindings } from './machine.ts';
import { projectFindings } from './project.ts';
import { runningFindings } from './running.ts';

const { fallback: _default, ...URL_FLAG } = CONNECTION_FLAGS.url;

const FLAGS = {
  fix: { kind: 'switch', help: 'List the safe fixes, then apply them.' },
  ...CONFIG_FLAGS,
  ...CONNECTION_FLAGS,
  url: { ...URL_FLAG, help: 'Address of the engine. Default: that of the configuration, on this machine.' },
} as const satisfies FlagTable;

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Find problems of this machine, project and engine.',
  details: [
    'Checks Node, limits, configuration, data directories and ports of this machine, and health, workers, triggers ' +
      'and dead letters of the running engine. The exit code is 1 when a check fails; warnings alone give 0.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc doctor', shows: 'One line for each check, and how to fix it.' },
    { line: 'svc doctor --config staging.yaml --json', shows: 'The same for another file, for a script.' },
  ],
  exitCodes: [EXIT.failed],
  async run(context) {
    const { flags, output } = context;
    let findings = await look(context);
    if (flags.fix && (await repair(findings, context))) findings = await look(context);
    const fails = findings.filter(({ level }) => level === 'fail').length;
    const warnings = findings.filter(({ level }) => level === 'warn').length;
    const checks = findings.map(({ name, level, text, fix }) => ({
      name,
      level,
      text,
      ...(fix && { fix: output.typed(fix) }),
    }));
    output.printDocument({ ok: fails === 0, fails, warnings, checks }, format(findings, context));
    return fails === 0 ? EXIT.done : EXIT.failed;
  },
});

type DoctorContext = Context<typeof FLAGS>;

async function look(context: DoctorContext): Promise<Finding[]> {
  const { terminal } = context;
  const machine = await machineFindings(terminal);
  const file = await readFile(context);
  const running = await askEngine(context, file);
  const engineRuns = running.every(({ level, name }) => name !== 'engine' || level !== 'fail');
  return [...machine, ...(await checkProject(context, file, engineRuns)), ...running];
}

type ReadFile = { readonly config: LoadedConfig; readonly isAbsent: boolean } | { readonly problem: CliFailure };

async function readFile({ flags, terminal }: DoctorContext): Promise<ReadFile> {
  const isAbsent = flags.config === undefined && !existsSync(resolve(terminal.cwd, CONFIG_FILE));
  try {
    const { config } = isAbsent ? defaultConfiguration(terminal) : await readConfiguration(flags.config, terminal);
    return { config, isAbsent };
  } catch (error) {
    return { problem: toFailure(error) };
  }
}

async function askEngine(context: DoctorContext, file: ReadFile): Promise<Finding[]> {
  const { flags, output, terminal } = context;
  const { url, trust }: { readonly url: string; readonly trust: Trust } =
    flags.url === undefined && 'config' in file
      ? ownEngine(file.config, terminal.now())
      : { url: flags.url ?? CONNECTION_FLAGS.url.fallback, trust: {} };
  const { ca_file: caFile, server_name: serverName } = trust;
  const reached = {
    ...flags,
    url,
    'ca-file': flags['ca-file'] ?? caFile,
    'server-name': flags['server-name'] ?? serverName,
  };
  try {
    return await withEngine({ flags: reached, output, terminal }, (engine) => runningFindings(engine, terminal));
  } catch (error) {
    const { message, hint = 'See svc start --help.' } = toFailure(error).report;
    return [fail('engine', message, hint)];
  }
}

async function checkProject(
  { flags, terminal }: DoctorContext,
  file: ReadFile,
  engineRuns: boolean,
): Promise<Finding[]> {
  try {
    if ('problem' in file) throw file.problem;
    const { config, isAbsent } = file;
    const project: Project = { config, startedIn: terminal.cwd, engineRuns };
    const found = isAbsent
      ? warn(
          'configuration',
          `there is no ${CONFIG_FILE} here; the built-in defaults are checked`,
          'Create a project with svc create, or give the file with --config.',
        )
      : ok('configuration', `${flags.config ?? CONFIG_FILE} is valid`);
    return [found, ...(await projectFindings(project, terminal.now()))];
  } catch (error) {
    const {
      message,
      lines = [],
      hint = 'Correct the file; svc config check checks only the file.',
    } = toFailure(error).report;
    return [fail('configuration', [message, ...lines].join('\n'), hint)];
  }
}

/** Whether anything was fixed. */
async function repair(findings: readonly Finding[], { output }: DoctorContext): Promise<boolean> {
  const repairs = findings.flatMap(({ repair: one }) => (one === undefined ? [] : [one]));
  if (repairs.length === 0) {
    output.note('Nothing can be fixed safely.');
    return false;
  }
  output.note(['Fixes:', ...repairs.map(({ text }) => `  ${text}`)].join('\n'));
  for (const one of repairs) await one.run();
  return true;
}

function format(findings: readonly Finding[], { output }: DoctorContext): string {
  const { green, yellow, red, dim } = output.paintOut;
  const paint = { ok: green, warn: yellow, fail: red };
  const gap = output.plain ? '\t' : '  ';
  return findings
    .flatMap(({ name, level, text, fix }) => [
      `${paint[level](level.padEnd(4))}${gap}${stripUnsafeLines(`${name}: ${text}`).replaceAll('\n', '\n      ')}`,
      ...(fix === undefined ? [] : [`    ${gap}${dim(stripUnsafeLines(output.typed(fix)))}`]),
    ])
    .join('\n');
}
