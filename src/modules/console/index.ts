// `svc-console-api`: what the console sees of the engine, and what it may do. Always loaded; it is reached through the
// HTTP port, so without the HTTP module nobody can ask it (decisions 59).

import { defineModule, type EngineModule, HOLDS_NOTHING, type ModuleContext } from '../module.ts';
import { bulkRoutes } from './bulk-routes.ts';
import { callRoutes } from './call-routes.ts';
import { consoleDeclaration } from './config.ts';
import { createDesk, type Desk } from './desk.ts';
import { Door } from './door.ts';
import { flowRoutes } from './flow-routes.ts';
import { LivePort } from './live/port.ts';
import { queueRoutes } from './queue-routes.ts';
import { registryRoutes } from './registry-routes.ts';
import { stateRoutes } from './state-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { systemRoutes } from './system-routes.ts';
import { telemetryRoutes } from './telemetry-routes.ts';
import { traceRoutes } from './trace-routes.ts';

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
  readonly #desk: Desk;
  readonly #live: LivePort;
  #stopLooking: (() => void) | undefined;

  constructor(context: ModuleContext) {
    this.#context = context;
    this.#desk = createDesk(context);
    this.#live = new LivePort(this.#desk);
    const door = new Door({
      context,
      routes: allRoutes(this.#desk),
      connected: (socket, isKnown) => this.#live.connected(socket, isKnown),
    });
    context.reservedPaths.offer(door);
  }

  async start(): Promise<void> {
    this.#stopLooking = this.#context.clock.every(HISTORY_INTERVAL_MS, () => this.#desk.history.look());
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

function allRoutes(desk: Desk) {
  return [
    ...systemRoutes(desk),
    ...registryRoutes(desk),
    ...callRoutes(desk),
    ...queueRoutes(desk),
    ...bulkRoutes(desk),
    ...stateRoutes(desk),
    ...streamRoutes(desk),
    ...telemetryRoutes(desk),
    ...traceRoutes(desk),
    ...flowRoutes(desk),
  ];
}
