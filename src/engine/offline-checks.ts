// What a start refuses for reasons that are not in the file itself, as far as nothing has to be connected or opened for
// it: variables of the environment, files of certificates, and places of stores.

import { statSync } from 'node:fs';
import type { LoadedConfig } from '../config/load.ts';
import { modulesOf, storeFolders } from '../config/load.ts';
import type { LoadedModule } from '../config/module-entries.ts';
import { formatProblem } from '../config/problem.ts';
import type { Path } from '../core/config-fields/fields-check.ts';
import { StartFailure } from '../effects/start-failure.ts';
import { httpDeclaration } from '../modules/http/config.ts';
import { readTls } from '../modules/listening-port.ts';
import { otelDeclaration } from '../modules/observability/config.ts';
import { type Environment, resolveTelemetry } from '../modules/observability/settings.ts';
import { streamDeclaration } from '../modules/stream/config.ts';
import type { TlsConfig } from '../modules/tls-settings.ts';
import { workerManagerDeclaration } from '../modules/worker-manager/config.ts';

interface World {
  readonly env: Environment;
  readonly nowMs: number;
  /** Relative paths start here. */
  readonly folder: string;
}

/** One text for each, with its place in the file. */
export function offlineRefusals(config: LoadedConfig, world: World): string[] {
  return [...telemetryRefusals(config, world), ...certificateRefusals(config, world), ...storeRefusals(config, world)];
}

function telemetryRefusals(config: LoadedConfig, { env }: World): string[] {
  return modulesOf(config, otelDeclaration).flatMap(({ config: settings, path }) => {
    try {
      resolveTelemetry(settings, env, config.settings.compat === 'iii');
      return [];
    } catch (error) {
      if (error instanceof StartFailure) return [refusalAt(config, path, error.message)];
      throw error;
    }
  });
}

function certificateRefusals(config: LoadedConfig, { nowMs }: World): string[] {
  return [workerManagerDeclaration, httpDeclaration, streamDeclaration].flatMap((declaration) =>
    modulesOf<{ readonly tls: TlsConfig | undefined }>(config, declaration).flatMap(({ config: { tls }, path }) => {
      const read = tls === undefined ? undefined : readTls(tls, nowMs);
      return read === undefined || read.ok ? [] : [refusalAt(config, [...path, 'config', 'tls'], read.reason)];
    }),
  );
}

function storeRefusals(config: LoadedConfig, { folder }: World): string[] {
  return config.modules.flatMap((module: LoadedModule) => {
    const [place] = storeFolders({ ...config, modules: [module] }, folder);
    if (place === undefined || statSync(place, { throwIfNoEntry: false })?.isDirectory() !== false) return [];
    const message = `The store needs a directory, and ${place} is a file.`;
    return [refusalAt(config, [...module.path, 'config', 'adapter', 'config', 'file_path'], message)];
  });
}

function refusalAt(config: LoadedConfig, path: Path, message: string): string {
  return formatProblem({ ...config.locate({ path, at: 'value', message }), excerpt: '' });
}
