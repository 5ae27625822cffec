import { redactBySchema } from '../core/fields-redact.ts';
import type { LoadedConfig } from './load.ts';
import type { LoadedModule } from './module-entries.ts';
import { topLevel } from './settings.ts';

/**
 * What `svc config show` prints: the settings and modules as they hold, every default filled in, every secret
 * taken out (X22). All modules stand under `workers`, by name, whichever style the file uses.
 */
export function effectiveConfig({ settings, modules }: LoadedConfig): Readonly<Record<string, unknown>> {
  return { ...redactBySchema(topLevel, settings), workers: modules.map(showModule) };
}

function showModule({ declaration, name, config, adapter }: LoadedModule): unknown {
  const shown = redactBySchema(declaration.config, config);
  if (adapter === undefined) return { name, config: shown };
  const shownAdapter = { name: adapter.name, config: redactBySchema(adapter.declaration.config, adapter.config) };
  return { name, config: { ...shown, adapter: shownAdapter } };
}
