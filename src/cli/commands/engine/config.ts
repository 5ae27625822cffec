// `svc config …`: the configuration file checked, the values in effect, and the schema for editors.

import { describeConfig, effectiveConfig } from '../../../config/describe.ts';
import { configurationSchema } from '../../../config/json-schema.ts';
import { systemClock } from '../../../effects/clock.ts';
import { offlineRefusals } from '../../../engine/offline-checks.ts';
import { declareModules, securityWarnings } from '../../../engine/start-checks.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CONFIG_FLAGS, defaultConfiguration, readConfiguration } from '../../kernel/configuration.ts';
import { CliFailure, EXIT, type ExitCode, usageFailure } from '../../kernel/failures.ts';
import { stripUnsafe, stripUnsafeLines } from '../../text/display-text.ts';
import type { Column } from '../../text/table.ts';
import { type ConnectFinding, connectFindings } from './config-connect.ts';

export const configCheck = defineCommand({
  name: 'config check',
  summary: 'Check the configuration file.',
  details: [
    'Reports every problem with line, column and path, and gives the warnings of svc start. Starts nothing.',
    'Certificates, places of stores and variables of the environment are looked at; ports and brokers with --connect.',
  ],
  flags: {
    ...CONFIG_FLAGS,
    connect: { kind: 'switch', help: 'Also try whether the ports are free and the brokers answer.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config check', shows: 'Checks svc-config.yaml in the current folder.' },
    {
      line: 'svc config check --config staging.yaml --json',
      shows: 'The same for a script; exit code 78 on a problem.',
    },
    { line: 'svc config check --connect', shows: 'Also tries the ports and the brokers.' },
  ],
  exitCodes: [EXIT.configuration, EXIT.conflict, EXIT.dependency],
  async run({ flags, output, terminal }) {
    const { file, config } = await readConfiguration(flags.config, terminal);
    const world = { env: terminal.env, nowMs: systemClock.nowMs(), folder: terminal.cwd };
    const refusals = offlineRefusals(config, world);
    if (refusals.length > 0) throw refusedStart(file, refusals);
    const modules = config.modules.map((module) => module.name);
    const warnings = securityWarnings(config);
    const listed = modules.length === 0 ? 'default modules only' : modules.join(', ');
    const connections = flags.connect ? await connectFindings(config) : undefined;
    const lines = [`${file} is valid: ${listed}.`, ...(connections ?? []).map(lineOf)];
    const document = { valid: true, file, modules, warnings, ...(connections !== undefined && { connections }) };
    output.printDocument(document, lines.join('\n'));
    for (const warning of warnings) output.warn(warning);
    return exitCodeOf(connections ?? []);
  },
});

function refusedStart(file: string | undefined, refusals: readonly string[]): CliFailure {
  const count = refusals.length === 1 ? 'a reason' : `${refusals.length} reasons`;
  return new CliFailure({
    code: 'CONFIG_INVALID',
    message: `The engine would not start, for ${count}:`,
    exitCode: EXIT.configuration,
    lines: refusals.flatMap((refusal) => stripUnsafeLines(refusal).split('\n')),
    details: { file, refusals },
  });
}

function lineOf({ module, what, problem }: ConnectFinding): string {
  return stripUnsafe(`${problem === undefined ? 'ok' : 'FAIL'}  ${module}: ${what}${problem ? `: ${problem}` : ''}`);
}

/** A port in use is reported first, as a start would. */
function exitCodeOf(findings: readonly ConnectFinding[]): ExitCode {
  const failed = findings.filter(({ problem }) => problem !== undefined);
  if (failed.some(({ kind }) => kind === 'port')) return EXIT.conflict;
  return failed.length === 0 ? EXIT.done : EXIT.dependency;
}

type SourcedValue = ReturnType<typeof describeConfig>['values'][number];

const SOURCE_COLUMNS: readonly Column<SourcedValue>[] = [
  { name: 'path', text: ({ path }) => stripUnsafe(path) },
  { name: 'value', cut: 'end', text: ({ value }) => stripUnsafe(JSON.stringify(value)) },
  { name: 'source', text: ({ source }) => source },
];

export const configShow = defineCommand({
  name: 'config show',
  summary: 'Print the configuration in effect, secrets redacted.',
  details: [
    'Defaults are filled in and variables expanded. The output is YAML, or JSON with --json; with --sources, one ' +
      'line per value.',
  ],
  flags: {
    ...CONFIG_FLAGS,
    sources: { kind: 'switch', help: 'Show where each value comes from: default, file or environment.' },
    'use-default-config': { kind: 'switch', help: 'Show the built-in defaults instead of a file.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config show', shows: 'The effective values of svc-config.yaml.' },
    { line: 'svc config show --use-default-config --json', shows: 'The built-in defaults.' },
    { line: 'svc config show --sources', shows: 'Which values are from the file, and which are defaults.' },
  ],
  exitCodes: [EXIT.configuration],
  async run({ flags, output, terminal }) {
    const byDefault = flags['use-default-config'];
    if (byDefault && flags.config !== undefined) {
      throw usageFailure('--config and --use-default-config exclude each other.');
    }
    const read = byDefault ? defaultConfiguration(terminal) : await readConfiguration(flags.config, terminal);
    if (flags.sources) {
      const { values } = describeConfig(read.config);
      output.printRows({ columns: SOURCE_COLUMNS, rows: values, records: values });
    } else {
      const effective = effectiveConfig(read.config);
      const { stringify } = await import('yaml');
      output.printDocument(effective, stripUnsafeLines(stringify(effective).trimEnd()));
    }
    for (const warning of read.config.warnings) output.warn(warning);
    return EXIT.done;
  },
});

export const configSchema = defineCommand({
  name: 'config schema',
  summary: 'Print the JSON schema of the configuration, for editors.',
  details: [
    'The schema is made from the rules of the engine. An editor with YAML support uses it through a first line in ' +
      'the file: # yaml-language-server: $schema=svc-config.schema.json',
    'The editor then finds most mistakes; svc config check finds all of them.',
  ],
  flags: {},
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc config schema > svc-config.schema.json', shows: 'For an editor.' },
    { line: 'svc config schema -o jsonl', shows: 'On one line.' },
  ],
  async run({ output }) {
    output.printJson(configurationSchema(declareModules().declarations));
    return EXIT.done;
  },
});
