// The configuration in effect: as `svc config show` prints it, and as the console shows it, with the source of each
// value (CFG-2).

import { stringify } from 'yaml';
import type { Config, ConfigField, ConfigSchema, ConfigSource, ConfigValue } from '../console/api/system.ts';
import type { Schema } from '../core/config-fields/fields.ts';
import { isMap, type Path } from '../core/config-fields/fields-check.ts';
import { listFields } from '../core/config-fields/fields-describe.ts';
import { redactBySchema } from '../core/config-fields/fields-redact.ts';
import type { ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import type { ProjectWorker } from '../core/workers/worker-manifest.ts';
import type { LoadedConfig } from './load.ts';
import type { LoadedModule } from './module-entries.ts';
import { placeholderNames } from './placeholders.ts';
import { projectWorkerFields } from './project-workers.ts';
import { topLevel } from './settings.ts';

export function describeConfig(config: LoadedConfig): Config {
  const effective = effectiveConfig(config);
  const { workers: _workers, ...settings } = effective;
  return {
    yaml: stringify(effective),
    effective,
    values: [
      ...valuesIn(settings, '', (path) => sourceAt(config, path)),
      ...config.modules.flatMap((module) =>
        valuesIn(showModule(module).config, `workers.${module.name}`, (path) =>
          module.path.length === 0 ? 'default' : sourceAt(config, [...module.path, 'config', ...path]),
        ),
      ),
      ...projectValues(config),
    ],
    file: config.file,
    warnings: [...config.warnings],
    last_reload: null,
  };
}

/** They are listed as in the file, each by its path there. */
function projectValues(config: LoadedConfig): ConfigValue[] {
  const paths = ['workers', 'modules'].flatMap((key) => {
    const list = isMap(config.written) ? config.written[key] : undefined;
    const entries: readonly unknown[] = Array.isArray(list) ? list : [];
    return entries.flatMap((entry, index) => (isMap(entry) && Object.hasOwn(entry, 'path') ? [[key, index]] : []));
  });
  return config.projectWorkers.flatMap((worker, nth) =>
    valuesIn(showWorker(worker), `workers.${worker.name}`, (path) =>
      sourceAt(config, [...(paths[nth] ?? []), ...path]),
    ),
  );
}

export function describeSchema(declarations: readonly ModuleDeclaration[]): ConfigSchema {
  return {
    top_level: fieldsOf(topLevel),
    modules: declarations.map(({ name, config, adapters }) => ({
      name,
      fields: [
        ...fieldsOf(config),
        ...adapters.flatMap((adapter) =>
          fieldsOf(adapter.config).map((field) => ({ ...field, path: `adapter.config.${field.path}` })),
        ),
      ],
    })),
  };
}

function fieldsOf(schema: Schema<unknown>): ConfigField[] {
  return listFields(schema).map(({ path, expected, help, isRequired, fallback }) => ({
    path,
    expected,
    help: help ?? null,
    required: isRequired,
    ...(fallback !== undefined && { default: fallback }),
  }));
}

/** Every value that is not a map, by its path. */
function valuesIn(value: unknown, name: string, sourceOf: (path: Path) => ConfigSource): ConfigValue[] {
  const found: ConfigValue[] = [];
  const visit = (at: unknown, path: Path, shownPath: string): void => {
    if (isMap(at) && Object.keys(at).length > 0) {
      for (const [key, member] of Object.entries(at)) {
        visit(member, [...path, key], shownPath === '' ? key : `${shownPath}.${key}`);
      }
      return;
    }
    found.push({ path: shownPath, value: at ?? null, source: sourceOf(path) });
  };
  visit(value, [], name);
  return found;
}

/** The text in the file, before variables were expanded. */
function sourceAt({ written }: LoadedConfig, path: Path): ConfigSource {
  let at: unknown = written;
  for (const step of path) {
    if (Array.isArray(at) && typeof step === 'number') at = at[step];
    else if (isMap(at) && Object.hasOwn(at, step)) at = at[step];
    else return 'default';
  }
  return namesVariable(at) ? 'environment' : 'file';
}

function namesVariable(value: unknown): boolean {
  if (typeof value === 'string') return placeholderNames(value).length > 0;
  return Array.isArray(value) && value.some(namesVariable);
}

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
