// Entries under `workers` that have a `path`: programs of the user which the engine starts and keeps running.

import { anything, fields, mapOf, optional, refused, secretText, text } from '../core/config-fields/fields.ts';
import { checkValue, type FieldProblem, type Path } from '../core/config-fields/fields-check.ts';
import { nameOffence, type ProjectWorker } from '../core/workers/worker-manifest.ts';

/** The commands of a worker without a manifest. */
const workerScripts = fields({ install: optional(text()), start: text() });

export const projectWorkerFields = fields({
  name: text({ bytesMax: 63 }),
  path: text(),
  // Where programs get their secrets, under names that no rule for keys knows.
  env: mapOf(secretText({ bytesMin: 0 }), { default: {} }),
  config: optional(anything()),
  scripts: optional(workerScripts),
  class: refused("A worker with a 'path' has a name, not a class."),
  image: refused('This version does not run container images. Remove this entry.'),
});

export function readProjectWorker(
  value: unknown,
  path: Path,
  isHidden: (path: Path) => boolean,
): ProjectWorker | readonly FieldProblem[] {
  const checked = checkValue(projectWorkerFields, value, { path, isHidden });
  if (!checked.ok) return checked.problems;
  const { name, path: folder, env, config, scripts } = checked.value;
  const offence = nameOffence(name);
  if (offence !== undefined) return [{ path: [...path, 'name'], at: 'value', message: offence }];
  return { name, path: folder, env, config, ...(scripts !== undefined && { scripts }) };
}
