import { redactBySchema } from '../core/fields-redact.ts';
import { redactFields } from '../core/redaction.ts';
import type { ProjectWorker } from '../core/worker-manifest.ts';
import type { LoadedConfig } from './load.ts';
import type { LoadedModule } from './module-entries.ts';
import { topLevel } from './settings.ts';

/**
 * What `svc config show` prints: the settings and modules as they hold, every default filled in, every secret
 * taken out (X22). All modules stand under `workers`, by name, whichever style the file uses.
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
  return redactFields({ name, path, env, ...(config !== undefined && { config }) });
}

export function showModule({ declaration, name, config, adapter }: LoadedModule) {
  const shown = redactBySchema(declaration.config, config);
  if (adapter === undefined) return { name, config: shown };
  const shownAdapter = { name: adapter.name, config: redactBySchema(adapter.declaration.config, adapter.config) };
  return { name, config: { ...shown, adapter: shownAdapter } };
}
