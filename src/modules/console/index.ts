// `svc-console-api`: what the console reads of the engine, and what it may change. The module is always loaded. It is
// reached through the HTTP port, so without the HTTP module no client can reach it (PD-59).

import { defineModule, type EngineModule, HOLDS_NOTHING, type ModuleContext } from '../module.ts';
import { ApiHandler } from './api-handler.ts';
import { consoleDeclaration } from './config.ts';
import { type ConsoleContext, createConsoleContext } from './console-context.ts';
import { LivePort } from './live/connection.ts';
import { bulkRoutes } from './routes/bulk-routes.ts';
import { callRoutes } from './routes/call-routes.ts';
import { flowRoutes } from './routes/flow-routes.ts';
import { queueRoutes } from './routes/queue-routes.ts';
import { registryRoutes } from './routes/registry-routes.ts';
import { stateRoutes } from './routes/state-routes.ts';
import { streamRoutes } from './routes/stream-routes.ts';
import { systemRoutes } from './routes/system-routes.ts';
import { telemetryRoutes } from './routes/telemetry-routes.ts';
import { traceRoutes } from './routes/trace-routes.ts';

const HISTORY_INTERVAL_MS = 1_000;

export const consoleModule = defineModule({
  declaration: consoleDeclaration,
  create: (context) => new ConsoleModule(context),
});

class ConsoleModule implements EngineModule {
  readonly functions = [];
  readonly triggerTypes = [];
  readonly listeners = HOLDS_NOTHING.listeners;
  readonly #context: ModuleContext;
  readonly #console: ConsoleContext;
  readonly #live: LivePort;
  #stopLooking: (() => void) | undefined;

  constructor(context: ModuleContext) {
    this.#context = context;
    this.#console = createConsoleContext(context);
    this.#live = new LivePort(this.#console);
    const handler = new ApiHandler({
      context,
      routes: allRoutes(this.#console),
      connected: (socket, isKnown) => this.#live.connected(socket, isKnown),
    });
    context.reservedPaths.offer(handler);
  }

  async start(): Promise<void> {
    this.#stopLooking = this.#context.clock.every(HISTORY_INTERVAL_MS, () => void this.#console.history.look());
    this.#live.start();
  }

  drain(): void {}

  stop(): void {
    this.#stopLooking?.();
    this.#live.stop();
  }

  health() {
    return { status: 'healthy' } as const;
  }
}

function allRoutes(context: ConsoleContext) {
  return [
    ...systemRoutes(context),
    ...registryRoutes(context),
    ...callRoutes(context),
    ...queueRoutes(context),
    ...bulkRoutes(context),
    ...stateRoutes(context),
    ...streamRoutes(context),
    ...telemetryRoutes(context),
    ...traceRoutes(context),
    ...flowRoutes(context),
  ];
}
