// The folder of a worker project: its manifest read and checked, and `svc worker init`, which creates one.

import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { readManifest } from '../../../config/manifest.ts';
import { formatProblem } from '../../../config/problem.ts';
import { readConfigFile } from '../../../config/read-file.ts';
import {
  MANIFEST_FILE,
  WORKER_NAME,
  type WorkerCommands,
  type WorkerManifest,
} from '../../../core/workers/worker-manifest.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { isEmptyFolder, packageName, writeWorker } from '../../project-template.ts';
import { quoteForShell } from '../../text/shell.ts';

export interface ReadProject {
  readonly folder: string;
  readonly manifest: WorkerManifest;
  readonly commands: WorkerCommands;
}

export async function readProject(folder: string): Promise<ReadProject> {
  const file = join(folder, MANIFEST_FILE);
  const status = await stat(folder).catch(() => undefined);
  if (status?.isDirectory() !== true) throw invalid(`The folder ${folder} does not exist.`, []);
  const text = await readConfigFile(file);
  if (!text.ok) throw invalid(text.problem.message, [], 'Create a project with: svc worker init <dir>');
  const read = readManifest(text.text, file);
  if (read.ok) return { folder, manifest: read.manifest, commands: read.commands };
  const lines = read.problems.flatMap((problem) => formatProblem(problem).split('\n'));
  throw invalid('The manifest has a problem:', lines);
}

export async function readProjectName(folder: string): Promise<string> {
  return (await readProject(folder)).manifest.name;
}

function invalid(message: string, lines: readonly string[], hint?: string): CliFailure {
  return new CliFailure({
    code: 'MANIFEST_INVALID',
    message,
    exitCode: EXIT.usage,
    lines,
    ...(hint !== undefined && { hint }),
  });
}

export const workerInit = defineCommand({
  name: 'worker init',
  summary: 'Create a worker project: a manifest, one function, a test.',
  operands: { usage: '[dir]', min: 0, max: 1, help: 'The folder. Default: the current folder.', kinds: ['file'] },
  details: ['The worker is named after its folder. Nothing is downloaded.'],
  flags: {
    lang: {
      kind: 'choice',
      placeholder: '<language>',
      fallback: 'ts',
      choices: ['ts', 'js'],
      help: 'TypeScript or JavaScript.',
    },
    force: { kind: 'switch', help: 'Write into a folder that is not empty, and overwrite files.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker init workers/billing', shows: 'A worker in TypeScript.' },
    { line: 'svc worker init workers/mail --lang js', shows: 'One in JavaScript.' },
  ],
  exitCodes: [EXIT.failed, EXIT.conflict],
  async run({ flags, operands, output, terminal }) {
    const directory = operands[0] ?? '.';
    const target = resolve(terminal.cwd, directory);
    const name = packageName(basename(target));
    if (!WORKER_NAME.test(name)) throw usageFailure(`'${name}' is not a valid worker name. Choose another folder.`);
    if (!flags.force && !(await isEmptyFolder(target))) {
      const message = `The folder ${directory} is not empty, and nothing was written.`;
      throw new CliFailure({
        code: 'CONFLICT',
        message,
        exitCode: EXIT.conflict,
        hint: 'Choose another folder, or overwrite its files with --force.',
      });
    }
    const files = await writeWorker(flags.lang, name, target);
    const next = output.typed(
      `svc worker add ${quoteForShell(directory.includes('/') ? directory : `./${directory}`)}`,
    );
    const lines = [`Created the worker ${name}:`, ...files.map((file) => `  ${file}`), '', `Run it: ${next}`];
    output.printDocument({ name, directory: target, files, next }, lines.join('\n'));
    return EXIT.done;
  },
});
