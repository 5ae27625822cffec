// One run of `svc`: finds the command, parses its flags, runs it, and turns any failure into one message and one exit
// code.

import { engineVersion } from '../../effects/version.ts';
import { createOutput, type Format, type Output } from '../text/output.ts';
import type { Terminal } from '../text/terminal.ts';
import { asksForHelp, parseArguments, peekFlags, timesGiven } from './arguments.ts';
import { type Catalogue, type CatalogueEntry, type Route, routeArguments, unknownCommand } from './catalogue.ts';
import type { Command } from './command.ts';
import { EXIT, type ExitCode, toFailure, usageFailure } from './failures.ts';
import { type FlagValues, GLOBAL_FLAGS, OUTPUT_FLAGS } from './flags.ts';

export async function runProgram(args: readonly string[], terminal: Terminal, catalogue: Catalogue): Promise<number> {
  let output = createOutput(terminal, peekOutputOptions(args), catalogue.firstWords());
  let monitors = false;
  let helpText = async () => (await import('./help.ts')).formatRootHelp(engineVersion(), catalogue);
  try {
    if (args[0] === COMPLETE) {
      return await printCandidates(args.slice(args[1] === '--' ? 2 : 1), terminal, catalogue);
    }
    const route = routeArguments(args, catalogue);
    if (route.kind !== 'command') return await runWithoutCommand(route, terminal, output, catalogue);

    const command = await route.entry.load();
    monitors = command.monitors === true;
    if (asksForHelp(route.args, { ...GLOBAL_FLAGS, ...command.flags })) {
      terminal.out.write(await commandHelpText(command, await explain(command, route.args, terminal, catalogue)));
      return EXIT.done;
    }
    if (route.named) helpText = () => commandHelpText(command);

    const table = { ...command.flags, ...GLOBAL_FLAGS };
    const parsed = parseArguments(route.args, table, await environmentFor(command, route.args, terminal));
    output = createOutput(terminal, outputOptions(parsed.flags, command, route.args), catalogue.firstWords());
    checkOperands(command, parsed.operands);
    const context = { flags: parsed.flags, operands: parsed.operands, output, terminal };
    command.checkFirst?.(context);
    if (command.hostsEngine === true) {
      const { runOnPinnedNode } = await import('../engine/pinned-node.ts');
      const exitCode = await runOnPinnedNode(args, terminal);
      if (exitCode !== undefined) return exitCode;
    } else if (command.handlesSignals !== true) {
      terminal.onSignal((signal) => terminal.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated));
    }
    return await command.run(context);
  } catch (error) {
    const failure = toFailure(error);
    if (failure.report.showHelp === true && !output.jsonAsked) terminal.err.write(`${await helpText()}\n`);
    output.fail(failure);
    return monitors ? MONITOR_UNKNOWN : failure.report.exitCode;
  }
}

/** The internal command that the scripts of `svc completion` call. */
const COMPLETE = '__complete';

async function printCandidates(words: readonly string[], terminal: Terminal, catalogue: Catalogue): Promise<ExitCode> {
  const [{ complete }, { namesFor }] = await Promise.all([import('./completion.ts'), import('./completion.ts')]);
  const found = await complete(words, catalogue, (kind, before) => namesFor(terminal, kind, before));
  terminal.out.write(found.map((word) => `${word}\n`).join(''));
  return EXIT.done;
}

/** Commands that connect to an engine can use a saved engine. */
async function environmentFor({ flags }: Command, args: readonly string[], { env }: Terminal) {
  if (!Object.hasOwn(flags, 'context') || !Object.hasOwn(flags, 'timeout')) return env;
  const { withContext } = await import('../engine/contexts.ts');
  const { context } = peekFlags(args, { context: { kind: 'text', placeholder: '<name>', help: '' } });
  return withContext(env, context ?? (env.SVC_CONTEXT || undefined));
}

/** The exit code with which monitoring systems show that a check could not run. */
const MONITOR_UNKNOWN = 3;

async function runWithoutCommand(
  route: Exclude<Route, { kind: 'command' }>,
  terminal: Terminal,
  output: Output,
  catalogue: Catalogue,
): Promise<ExitCode> {
  switch (route.kind) {
    case 'version':
      output.printDocument({ version: engineVersion() }, `svc ${engineVersion()}`);
      return EXIT.done;
    case 'help':
      terminal.out.write(await helpFor(route.words, catalogue));
      return EXIT.done;
    case 'group':
      throw usageFailure(
        `'svc ${route.group}' is a group of commands.`,
        `One of: ${catalogue
          .groupMembers(route.group)
          .map((entry) => `svc ${entry.name}`)
          .join(', ')}.`,
      );
  }
}

/** `svc help …`: a topic, a command, the commands of a group, or all commands. */
async function helpFor(words: readonly string[], catalogue: Catalogue): Promise<string> {
  const { formatGroupHelp, formatRootHelp } = await import('./help.ts');
  const { TOPICS } = await import('./help-topics.ts');
  const [first] = words;
  if (first === undefined) return formatRootHelp(engineVersion(), catalogue);
  const topic = words.length === 1 && Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined;
  if (topic !== undefined) return topic();
  const members = catalogue.groupMembers(words.join(' '));
  if (members.length > 0) return formatGroupHelp(words.join(' '), members);
  // Words after the command may be its operands.
  const names = words.map((_, index) => words.slice(0, words.length - index).join(' '));
  const entry: CatalogueEntry | undefined = names
    .map((name) => catalogue.entryNamed(name))
    .find((found) => found !== undefined);
  if (entry === undefined) throw unknownCommand(words.join(' '), [...catalogue.firstWords(), ...Object.keys(TOPICS)]);
  return await commandHelpText(await entry.load());
}

/** What the engine knows about the operands, for the help of a command that supports it. */
async function explain(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
  catalogue: Catalogue,
): Promise<readonly string[] | undefined> {
  if (command.explain === undefined) return undefined;
  try {
    const table = { ...command.flags, ...GLOBAL_FLAGS, help: { kind: 'switch', short: 'h', help: '' } } as const;
    const parsed = parseArguments(args, table, terminal.env);
    const output = createOutput(terminal, outputOptions(parsed.flags, command, args), catalogue.firstWords());
    return await command.explain({ flags: parsed.flags, operands: parsed.operands, output, terminal });
  } catch {
    // Help is shown even for an invalid line or without an engine.
    return undefined;
  }
}

async function commandHelpText(command: Command, explained?: readonly string[]): Promise<string> {
  const { formatCommandHelp } = await import('./help.ts');
  return formatCommandHelp(command, explained);
}

function checkOperands({ name, operands }: Command, given: readonly string[]): void {
  const { min, max, usage } = operands ?? { min: 0, max: 0, usage: '' };
  if (given.length > max) {
    throw usageFailure(`svc ${name} does not take '${given[max]}'.`, `Usage: svc ${name} ${usage}`.trimEnd());
  }
  if (given.length < min) throw usageFailure(`svc ${name} needs ${usage}.`, `See: svc ${name} --help`);
}

type OutputFlagValues = FlagValues<typeof OUTPUT_FLAGS>;

function outputOptions(flags: OutputFlagValues, { name, formats }: Command, args: readonly string[]) {
  if (flags.json && flags.output !== undefined && flags.output !== 'json') {
    throw usageFailure(`--json and -o ${flags.output} exclude each other.`);
  }
  const wanted = flags.output ?? (flags.json ? 'json' : undefined);
  if (wanted !== undefined && !formats.includes(wanted)) {
    throw usageFailure(`svc ${name} does not print ${wanted}: expected one of ${formats.join(', ')}.`);
  }
  return { ...commonOptions(flags, args), format: wanted ?? formats[0] };
}

/** Output options for messages before the command is known, such as an unknown command. */
function peekOutputOptions(args: readonly string[]) {
  const flags = peekFlags(args, OUTPUT_FLAGS);
  const format: Format = flags.output ?? (flags.json ? 'json' : 'table');
  return { ...commonOptions(flags, args), format };
}

function commonOptions(flags: OutputFlagValues, args: readonly string[]) {
  return {
    jsonAsked: flags.json || flags.output === 'json' || flags.output === 'jsonl',
    plain: flags.plain,
    quiet: flags.quiet,
    verbose: flags.verbose,
    showsWire: flags.verbose && timesGiven('verbose', args, OUTPUT_FLAGS) > 1,
    colour: flags.color,
    timeStyle: flags.time,
  };
}
