// A worker project on the command line: the manifest that the engine reads, with its problems as failures of a command.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from '../../../config/manifest.ts';
import { formatProblem } from '../../../config/problem.ts';
import { readConfigFile } from '../../../config/read-file.ts';
import { MANIFEST_FILE, type WorkerCommands, type WorkerManifest } from '../../../core/workers/worker-manifest.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure } from '../../kernel/failures.ts';

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
