// Reads `svc.worker.yaml` from its text, or reports its problems with line and column, like the configuration.

import { checkValue, type FieldProblem } from '../core/config-fields/fields-check.ts';
import {
  commandsOf,
  manifestSchema,
  nameOffence,
  type WorkerCommands,
  type WorkerManifest,
} from '../core/workers/worker-manifest.ts';
import { readDocument } from './document.ts';
import type { ConfigProblem } from './problem.ts';

export type ReadManifest =
  | { readonly ok: true; readonly manifest: WorkerManifest; readonly commands: WorkerCommands }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** `file` is named in every problem. */
export function readManifest(text: string, file: string): ReadManifest {
  const read = readDocument(text, file);
  if (!read.ok) return read;
  const refuse = (problems: readonly FieldProblem[]): ReadManifest => ({
    ok: false,
    problems: problems.map((problem) => read.document.locate(problem)),
  });
  const checked = checkValue(manifestSchema, read.document.value ?? {});
  if (!checked.ok) return refuse(checked.problems);
  const offence = nameOffence(checked.value.name);
  if (offence !== undefined) return refuse([{ path: ['name'], at: 'value', message: offence }]);
  const commands = commandsOf(checked.value);
  if ('message' in commands) return refuse([commands]);
  return { ok: true, manifest: checked.value, commands };
}
