// `svc config convert`: a configuration file of `iii` in the form of this engine.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { convertForeign } from '../../../config/foreign/convert.ts';
import { formatProblem } from '../../../config/problem.ts';
import { readConfigFile } from '../../../config/read-file.ts';
import { declareModules } from '../../../engine/start-checks.ts';
import { defineCommand } from '../../kernel/command.ts';
import { invalidConfiguration, problemsIn } from '../../kernel/configuration.ts';
import { EXIT } from '../../kernel/failures.ts';

export const configConvert = defineCommand({
  name: 'config convert',
  summary: 'Convert a configuration file of iii.',
  operands: { usage: '<file>', min: 1, max: 1, help: 'The configuration file of iii.', kinds: ['file'] },
  details: [
    'Prints the file in the form of svc. A comment explains each change; your comments and placeholders stay.',
    'If the result still has problems, they are listed, and the exit code is 78.',
  ],
  flags: {
    out: { kind: 'text', placeholder: '<file>', help: 'Write to this file instead of stdout: svc-config.yaml.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config convert config.yaml', shows: 'Prints the converted file.' },
    { line: 'svc config convert config.yaml --out svc-config.yaml', shows: 'Writes it.' },
  ],
  exitCodes: [EXIT.configuration],
  async run({ flags, operands, output, terminal }) {
    const [file = ''] = operands;
    const read = await readConfigFile(resolve(terminal.cwd, file));
    if (!read.ok) throw invalidConfiguration(file, [read.problem]);
    const converted = convertForeign({ text: read.text, file, env: terminal.env, ...declareModules() });
    if (!converted.ok) throw invalidConfiguration(file, converted.problems);
    const { text, notes } = converted;
    const written = flags.out ?? 'stdout';
    const problems = problemsIn(text, written, terminal);
    const document = { file, written, changes: notes, problems };
    if (flags.out === undefined) {
      output.printDocument({ ...document, text }, text.trimEnd());
    } else {
      await writeFile(resolve(terminal.cwd, flags.out), text);
      const changes = notes.length === 1 ? '1 change' : `${notes.length} changes`;
      output.printDocument(document, `Wrote ${flags.out} with ${changes}.`);
    }
    if (notes.length === 0) output.warn(`${file} has nothing that only iii has: it is unchanged.`);
    for (const problem of problems) output.warn(formatProblem(problem));
    return problems.length === 0 ? EXIT.done : EXIT.configuration;
  },
});
