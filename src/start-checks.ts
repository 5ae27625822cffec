// What the configuration means for the start: which modules run, and what must not start at all.

import { type LoadedConfig, modulesOf } from './config/load.ts';
import type { ModuleDeclaration } from './core/module-declaration.ts';
import { isLoopbackHost } from './core/origin.ts';
import { MODULES, UNBUILT } from './modules/catalogue.ts';
import type { ModuleDefinition, ModuleSettings } from './modules/module.ts';
import { workerManagerDeclaration } from './modules/worker-manager/config.ts';
import type { ChannelSettings } from './router/channels.ts';

/** The engine cannot start; the process ends with the code (7 port in use, 78 configuration). */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}

/** What the configuration loader must know of the modules. */
export function declareModules(): {
  declarations: readonly ModuleDeclaration[];
  unbuilt: readonly { readonly names: readonly string[]; readonly message: string }[];
} {
  return { declarations: MODULES.map(({ declaration }) => declaration), unbuilt: UNBUILT };
}

export interface ListedModule {
  readonly name: string;
  readonly adapter: string | undefined;
  readonly definition: ModuleDefinition;
  readonly config: unknown;
}

/** The code behind the configured modules. */
export function listModules(config: LoadedConfig): ListedModule[] {
  return config.modules.map(({ name, adapter, config: moduleConfig }) => ({
    name,
    adapter: adapter?.name,
    definition: definitionOf(name),
    config: moduleConfig,
  }));
}

/** Below this many open files a busy engine meets the limit before its own limits act (guarantees 4). */
const OPEN_FILES_ADVISED = 65_536;
/** What connections may take of them; the rest is for everything else the process opens. */
const OPEN_FILES_SHARE = 0.9;

export function startWarnings(config: LoadedConfig, openFiles: number | undefined): readonly string[] {
  if (openFiles === undefined || openFiles >= OPEN_FILES_ADVISED) return config.warnings;
  const text =
    `At most ${openFiles} files may be open, so no more than ${Math.floor(openFiles * OPEN_FILES_SHARE)} connections ` +
    `are taken. Raise the limit to ${OPEN_FILES_ADVISED} (ulimit -n, or LimitNOFILE in systemd)`;
  return [...config.warnings, text];
}

export function moduleSettings({ settings }: LoadedConfig, openFiles: number | undefined): ModuleSettings {
  const { trusted } = settings.limits;
  const affordable = openFiles === undefined ? Number.POSITIVE_INFINITY : Math.floor(openFiles * OPEN_FILES_SHARE);
  return {
    bridgeToken: settings.bridge_token,
    allowedHosts: settings.allowed_hosts,
    trusted: {
      frameBytes: trusted.frame_bytes,
      connectionsMax: Math.min(trusted.connections, affordable),
      connectionsPerSecondMax: trusted.connections_per_second,
      outboundBufferBytes: trusted.outbound_buffer_bytes,
      outboundCloseBytes: trusted.outbound_close_bytes,
      inFlightPerWorker: trusted.in_flight_per_worker,
      inFlightPerCaller: trusted.in_flight_per_caller,
      functionsPerWorker: trusted.functions_per_worker,
      triggersPerWorker: trusted.triggers_per_worker,
    },
  };
}

export function channelSettings({ settings }: LoadedConfig): ChannelSettings {
  const { engine } = settings.limits;
  return {
    channelsMax: engine.channels,
    bufferBytesMax: engine.channel_buffer_bytes,
    buffersBytesMax: engine.channel_buffers_bytes,
    spillBytesMax: engine.channel_spill_bytes,
    spillsBytesMax: engine.channel_spills_bytes,
  };
}

/** A worker port gives full power over the engine: beyond this machine it needs a token (X2). */
export function assertSafeToStart(config: LoadedConfig): void {
  if (config.settings.strict && config.warnings.length > 0) {
    throw new StartError(78, `strict: true turns warnings into errors:\n${config.warnings.join('\n')}`);
  }
  if (config.settings.bridge_token !== undefined) return;
  for (const { config: port, path } of modulesOf(config, workerManagerDeclaration)) {
    if (isLoopbackHost(port.host)) continue;
    const text =
      `${path}.config.host: '${port.host}' can be reached from other machines, and a worker port gives full power ` +
      'over the engine. Set bridge_token (at least 32 bytes), or use 127.0.0.1';
    throw new StartError(78, text);
  }
}

function definitionOf(name: string): ModuleDefinition {
  const definition = MODULES.find(({ declaration }) => declaration.name === name);
  if (definition === undefined) throw new Error(`The loader accepted a module that is not in the catalogue: ${name}`);
  return definition;
}
