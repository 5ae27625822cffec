// Checks of the configuration at the start: its warnings, and the errors that prevent a start. Commands that start
// nothing load this file too, so it imports no code of modules; `module-set.ts` does.

import { type LoadedConfig, modulesOf } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { exposes, readExposeEntry } from '../core/access/expose-filter.ts';
import { isLoopbackHost } from '../core/access/origin.ts';
import type { Path } from '../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import type { ConsoleStyle } from '../effects/logger.ts';
import { OPEN_FILES_SHARE } from '../effects/open-files.ts';
import { StartFailure } from '../effects/start-failure.ts';
import { DECLARATIONS, UNBUILT } from '../modules/declarations.ts';
import { otelDeclaration } from '../modules/observability/config.ts';
import { streamDeclaration } from '../modules/stream/config.ts';
import {
  authFunctionOf,
  leavesTriggerTypesToHooks,
  workerManagerDeclaration,
} from '../modules/worker-manager/config.ts';
import { doubleName, unnamedPorts, unsharedStore } from './cluster-checks.ts';

/** What the configuration loader must know about the modules. */
export function declareModules(): {
  declarations: readonly ModuleDeclaration[];
  unbuilt: readonly { readonly names: readonly string[]; readonly message: string }[];
} {
  return { declarations: DECLARATIONS, unbuilt: UNBUILT };
}

/** With fewer open files, a busy engine reaches this limit before its own limits apply (guarantees 4). */
const OPEN_FILES_ADVISED = 65_536;

export function startWarnings(config: LoadedConfig, openFiles: number | undefined): readonly string[] {
  const warnings = [...securityWarnings(config), ...unnamedPorts(config)];
  if (openFiles === undefined || openFiles >= OPEN_FILES_ADVISED) return warnings;
  const text =
    `The limit of open files is ${openFiles}: at most ${Math.floor(openFiles * OPEN_FILES_SHARE)} connections ` +
    `are taken. Raise the limit to ${OPEN_FILES_ADVISED} (ulimit -n, or LimitNOFILE in systemd)`;
  return [...warnings, text];
}

/** Warnings about the file itself, and about ports that anyone can use. */
export function securityWarnings(config: LoadedConfig): readonly string[] {
  const open = modulesOf(config, workerManagerDeclaration)
    .filter(({ config: port }) => port.rbac !== undefined && authFunctionOf(port) === undefined)
    .map(({ path }) => {
      const message = 'No auth_function_id: any client that reaches the port may call expose_functions.';
      return warningAt(config, [...path, 'config', 'rbac'], message);
    });
  const unlimited = modulesOf(config, workerManagerDeclaration)
    .filter(({ config: port }) => config.settings.compat === 'iii' && leavesTriggerTypesToHooks(port))
    .map(({ path }) => {
      const message =
        'No allow_trigger_types: connections that the auth function does not limit may bind every trigger type, such ' +
        'as http. List the types that they need.';
      return warningAt(config, [...path, 'config', 'rbac'], message);
    });
  const streams = modulesOf(config, streamDeclaration)
    .filter(({ config: port }) => port.auth_function === undefined && !isLoopbackHost(port.host))
    .map(({ config: port, path }) => {
      const message =
        `No auth_function, and '${port.host}' can be reached from other machines: any client that reaches the port ` +
        'may read every stream.';
      return warningAt(config, [...path, 'config'], message);
    });
  return [...config.warnings, ...open, ...unlimited, ...engineFunctionsExposed(config), ...streams];
}

/** Engine functions that a pattern for user functions exposes, too, one per module, as `match("*")` does (X8). */
const OPENED_BY_STARS = new Map([
  ['svc-state', 'state::delete'],
  ['svc-stream', 'stream::delete'],
  ['svc-queue', 'svc::queue::purge'],
]);

function engineFunctionsExposed(config: LoadedConfig): readonly string[] {
  const listed = [...OPENED_BY_STARS].filter(([module]) => config.modules.some(({ name }) => name === module));
  return modulesOf(config, workerManagerDeclaration).flatMap(({ config: port, path }) =>
    (port.rbac?.expose_functions ?? []).flatMap((entry, index) => {
      const read = readExposeEntry(entry);
      if (!read.ok || read.value.kind !== 'id' || !read.value.pattern.text.startsWith('*')) return [];
      const { value: filter } = read;
      const opened = listed.flatMap(([, id]) => (exposes(filter, id, []) ? [id] : []));
      if (opened.length === 0) return [];
      const message = `This exposes ${opened.join(', ')} as well. List only your own functions: match("api::*").`;
      return [warningAt(config, [...path, 'config', 'rbac', 'expose_functions', index], message)];
    }),
  );
}

function warningAt(config: LoadedConfig, path: Path, message: string): string {
  return formatProblem({ ...config.locate({ path, at: 'key', message }), excerpt: '' });
}

/** The log settings of the file; flags of the command line take precedence. */
export function consoleStyle(config: LoadedConfig): ConsoleStyle {
  const [entry] = modulesOf(config, otelDeclaration);
  const { level = 'info', format = 'default' } = entry?.config ?? {};
  // The engine writes no log records below debug.
  return { level: level === 'trace' ? 'debug' : level, format };
}

/** A worker port gives full power over the engine: beyond this machine it needs a token, or certificates (X2). */
export function assertSafeToStart(config: LoadedConfig): void {
  const warnings = securityWarnings(config);
  if (config.settings.strict && warnings.length > 0) {
    throw new StartFailure(78, `strict: true turns warnings into errors:\n${warnings.join('\n')}`);
  }
  const contradiction = unsharedStore(config) ?? doubleName(config);
  if (contradiction !== undefined) throw new StartFailure(78, contradiction);
  if (config.settings.bridge_token !== undefined) return;
  for (const { config: port, path } of modulesOf(config, workerManagerDeclaration)) {
    if (port.rbac !== undefined || isLoopbackHost(port.host)) continue;
    if (port.tls?.client_certificates === 'required') continue;
    const message =
      `'${port.host}' can be reached from other machines, and a worker port gives full power over the engine. ` +
      'Set bridge_token (at least 32 bytes), require tls.client_certificates, or use 127.0.0.1.';
    throw new StartFailure(
      78,
      formatProblem(config.locate({ path: [...path, 'config', 'host'], at: 'value', message })),
    );
  }
}
