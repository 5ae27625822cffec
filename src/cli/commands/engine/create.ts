import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { nearestWords } from '../../../core/config-fields/nearest.ts';
import { isEngineNode } from '../../engine/pinned-node.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { isEmptyFolder, TEMPLATES, type Template, writeTemplate } from '../../project-template.ts';
import { quoteForShell } from '../../text/shell.ts';

const FLAGS = {
  template: { kind: 'text', short: 't', placeholder: '<name>', help: 'Name of the template; see --list.' },
  directory: { kind: 'text', short: 'd', placeholder: '<dir>', help: 'Folder of the project; same as the operand.' },
  list: { kind: 'switch', help: 'List the templates and create nothing.' },
  install: { kind: 'switch', help: 'Run npm install in the project.' },
  'no-git': { kind: 'switch', help: 'Do not create a git repository.' },
  force: { kind: 'switch', help: 'Write into a folder that is not empty, and overwrite files.' },
} as const satisfies FlagTable;

type CreateContext = Context<typeof FLAGS>;

export const create = defineCommand({
  name: 'create',
  summary: 'Create a new project from a template.',
  operands: { usage: '[dir]', min: 0, max: 1, help: 'The folder of the project.', kinds: ['file'] },
  details: [
    'The templates are part of this program: only --install downloads anything. On a terminal the command asks for ' +
      'missing arguments.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc create --template quickstart --directory my-project', shows: 'A project with one worker.' },
    { line: 'svc create --list', shows: 'The templates.' },
  ],
  exitCodes: [EXIT.failed, EXIT.conflict],
  async run(context) {
    const { flags, output, terminal } = context;
    if (flags.list) return listTemplates(context);
    const { template, directory } = await decide(context);
    const target = resolve(terminal.cwd, directory);
    if (!flags.force && !(await isEmptyFolder(target))) throw notEmpty(directory);
    await writeTemplate(template, target);
    const isRepository = !flags['no-git'] && (await makeRepository(target));
    if (flags.install) await install(context, target);
    const running = process.versions.node;
    if (template.language === 'ts' && !isEngineNode(running)) {
      output.warn(`npm test of this project needs Node 22.15 or newer; this shell has ${running}.`);
    }
    const next = nextCommands(context, template, target);
    output.printDocument(
      { template: template.name, directory: target, git: isRepository, installed: flags.install, next },
      [`Created ${directory} from ${template.name}. Next:`, '', ...next.map((line) => `  ${line}`)].join('\n'),
    );
    return EXIT.done;
  },
});

function listTemplates({ output }: CreateContext) {
  output.printRows({
    columns: [
      { name: 'template', text: ({ name }: Template) => name },
      { name: 'what it is', cut: 'end', text: ({ summary }: Template) => summary },
    ],
    rows: TEMPLATES,
    records: TEMPLATES.map(({ name, summary, language }) => ({ name, summary, language })),
  });
  return EXIT.done;
}

async function decide(context: CreateContext): Promise<{ template: Template; directory: string }> {
  const { flags, operands, terminal, output } = context;
  const [operand] = operands;
  if (operand !== undefined && flags.directory !== undefined && operand !== flags.directory) {
    throw usageFailure(`Two folders are given: ${operand} and ${flags.directory}. Give one.`);
  }
  const directory = flags.directory ?? operand;
  const template = flags.template === undefined ? undefined : templateNamed(flags.template);
  if (template !== undefined && directory !== undefined) return { template, directory };
  if (terminal.mayAsk && !output.jsonAsked) return await ask(template, directory);
  const missing = directory === undefined ? '--directory <dir>' : '--template <name>';
  throw usageFailure(`svc create needs ${missing}.`, `Templates: ${TEMPLATES.map(({ name }) => name).join(', ')}`);
}

/** The library is loaded only for interactive use. */
async function ask(given: Template | undefined, directory: string | undefined) {
  const { isCancel, select, text } = await import('@clack/prompts');
  const cancelled = (): CliFailure =>
    new CliFailure({ code: 'NOT_CONFIRMED', message: 'Nothing was created.', exitCode: EXIT.failed });
  const options = TEMPLATES.map(({ name, summary }) => ({ value: name, label: name, hint: summary }));
  const name = given?.name ?? (await select({ message: 'Which template?', options }));
  if (isCancel(name)) throw cancelled();
  const folder = directory ?? (await text({ message: 'Into which folder?', initialValue: `my-${name}` }));
  if (isCancel(folder)) throw cancelled();
  return { template: templateNamed(name), directory: folder };
}

function templateNamed(name: string): Template {
  const found = TEMPLATES.find((template) => template.name === name);
  if (found !== undefined) return found;
  const names = TEMPLATES.map((template) => template.name);
  const [close] = nearestWords(name, names);
  const hint = close === undefined ? `Templates: ${names.join(', ')}` : `Did you mean: ${close}?`;
  throw usageFailure(`There is no template '${name}'.`, hint);
}

function notEmpty(directory: string): CliFailure {
  return new CliFailure({
    code: 'CONFLICT',
    message: `The folder ${directory} is not empty, and nothing was written.`,
    exitCode: EXIT.conflict,
    hint: 'Choose another folder, or overwrite its files with --force.',
  });
}

/** False inside another repository, and without git. */
async function makeRepository(target: string): Promise<boolean> {
  for (let folder = target; ; folder = dirname(folder)) {
    if ((await stat(resolve(folder, '.git')).catch(() => undefined)) !== undefined) return false;
    if (folder === dirname(folder)) break;
  }
  return (await run('git', ['init', '--quiet'], target, 'ignore')) === 0;
}

async function install({ output }: CreateContext, target: string): Promise<void> {
  output.note('Installing: npm install …');
  const code = await run('npm', ['install', '--no-audit', '--no-fund'], target, 'inherit');
  if (code === 0) return;
  throw new CliFailure({
    code: 'INSTALL_FAILED',
    message: `The project was created, but npm install failed (${code ?? 'npm not found'}).`,
    exitCode: EXIT.failed,
    hint: `Try again: cd ${quoteForShell(target)} && npm install`,
  });
}

/** Its output goes to stderr: stdout is for the result of the command. */
function run(program: string, args: readonly string[], cwd: string, words: 'inherit' | 'ignore') {
  return new Promise<number | null>((done) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', words === 'inherit' ? 2 : 'ignore', words] });
    child.once('error', () => done(null));
    child.once('close', done);
  });
}

function nextCommands({ flags, terminal }: CreateContext, template: Template, target: string): string[] {
  const there = relative(terminal.cwd, target);
  const enter = there === '' ? [] : [`cd ${quoteForShell(there.startsWith('..') ? target : there)}`];
  const install = flags.install ? [] : ['npm install'];
  return [...enter, ...install, 'npm start', template.tryLine].slice(0, 3);
}
