// The shape of a module: the furniture every room of the engine has. The engine asks no module which one it is.

import type { GateLimits } from '../core/connection-gate.ts';
import type { ModuleDeclaration } from '../core/module-declaration.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { BuiltinDefinition, ModuleTriggerType } from '../router/builtin.ts';
import type { RouterPort } from '../router/port.ts';
import type { Router } from '../router/router.ts';
import type { SessionLimits } from '../router/session.ts';
import type { Transport } from '../transport/socket.ts';

/** One entry of `modules/catalogue.ts`. */
export interface ModuleDefinition {
  readonly declaration: ModuleDeclaration;
  /** `config` is what the declaration's schema made of the file. */
  create(context: ModuleContext, config: unknown): EngineModule;
}

/** What a module may use of the engine. */
export interface ModuleContext {
  readonly router: RouterPort;
  /** Where worker connections go; for modules that accept them. */
  readonly connections: Pick<Router, 'connect'>;
  readonly transport: Transport;
  readonly settings: ModuleSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Health of every module by name. */
  readonly modulesHealth: () => Readonly<Record<string, ModuleHealth>>;
}

/** Top-level settings that concern more than one module. */
export interface ModuleSettings {
  readonly bridgeToken: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly trusted: SessionLimits & GateLimits & { readonly frameBytes: number };
}

export interface EngineModule {
  readonly functions: readonly BuiltinDefinition[];
  readonly triggerTypes: readonly ModuleTriggerType[];
  /** Takes what it needs of the world: ports, files. Rejects if it cannot; then nothing of it may be left. */
  start(): Promise<void>;
  /** The engine is stopping: accept nothing new. */
  drain(): void;
  /** Releases everything. Called once, after the drain, or after a failed start of another module. */
  stop(): void;
  health(): ModuleHealth;
  /** The addresses it listens on, for the start banner. */
  listeners(): readonly ListenerFacts[];
}

export interface ListenerFacts {
  readonly name: string;
  readonly address: string;
}

export interface ModuleHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly adapter?: string;
  readonly details?: unknown;
}

/** The verbs of a module that holds nothing of the outside world. */
export const HOLDS_NOTHING = {
  async start(): Promise<void> {},
  drain(): void {},
  stop(): void {},
  listeners: (): readonly ListenerFacts[] => [],
};

/** Ties a module's code to the type of its configuration. */
export function defineModule<C>(definition: {
  readonly declaration: ModuleDeclaration<C>;
  create(context: ModuleContext, config: C): EngineModule;
}): ModuleDefinition {
  return {
    declaration: definition.declaration,
    // The loader has checked the value against this very declaration; the list of modules cannot carry the type.
    create: (context, config) => definition.create(context, config as C),
  };
}
