import { redactBySchema } from '../core/config-fields/fields-redact.ts';
import type { ProjectWorker } from '../core/workers/worker-manifest.ts';
import type { LoadedConfig } from './load.ts';
import type { LoadedModule } from './module-entries.ts';
import { projectWorkerFields } from './project-workers.ts';
import { topLevel } from './settings.ts';

/**
 * The output of `svc config show`: the settings and modules in effect, with every default filled in and every secret
 * removed (X22). All modules are listed under `workers`, by name, whichever style the file uses.
 */
export function effectiveConfig({
  settings,
  modules,
  projectWorkers,
}: LoadedConfig): Readonly<Record<string, unknown>> {
  return {
    ...redactBySchema(topLevel, settings),
    workers: [...modules.map(showModule), ...projectWorkers.map(showWorker)],
  };
}

export function showWorker({ name, path, env, config }: ProjectWorker): unknown {
  return redactBySchema(projectWorkerFields, { name, path, env, ...(config !== undefined && { config }) });
}

export function showModule({ declaration, name, config, adapter }: LoadedModule) {
  const shown = redactBySchema(declaration.config, config);
  if (adapter === undefined) return { name, config: shown };
  const shownAdapter = { name: adapter.name, config: redactBySchema(adapter.declaration.config, adapter.config) };
  return { name, config: { ...shown, adapter: shownAdapter } };
}
