import { basename, resolve } from 'node:path';
import { WORKER_NAME } from '../../core/worker-manifest.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, usageFailure } from '../failures.ts';
import { isEmptyFolder, packageName, writeWorker } from '../project-template.ts';
import { quoteForShell } from '../shell-quote.ts';

export const workerInit = defineCommand({
  name: 'worker init',
  summary: 'Make a worker project: a manifest, one function, a test.',
  operands: { usage: '[dir]', min: 0, max: 1, help: 'The folder; the current one if none is named.', kinds: ['file'] },
  details: ['The worker is named after its folder. Nothing is fetched.'],
  flags: {
    lang: {
      kind: 'choice',
      placeholder: '<language>',
      fallback: 'ts',
      choices: ['ts', 'js'],
      help: 'TypeScript or JavaScript.',
    },
    force: { kind: 'switch', help: 'Write into a folder that is not empty, over files of the same name.' },
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
    if (!WORKER_NAME.test(name)) throw usageFailure(`A worker cannot be named '${name}'. Name another folder.`);
    if (!flags.force && !(await isEmptyFolder(target))) {
      const message = `The folder ${directory} is not empty, and nothing was written.`;
      throw new CliFailure({ code: 'CONFLICT', message, exitCode: EXIT.conflict, hint: 'Or write with --force.' });
    }
    const files = await writeWorker(flags.lang, name, target);
    const next = output.typed(
      `svc worker add ${quoteForShell(directory.includes('/') ? directory : `./${directory}`)}`,
    );
    const lines = [`Made the worker ${name}:`, ...files.map((file) => `  ${file}`), '', `Run it: ${next}`];
    output.printDocument({ name, directory: target, files, next }, lines.join('\n'));
    return EXIT.done;
  },
});
