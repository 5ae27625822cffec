// The code of every module that the engine knows, as an explicit list: modules are not found by scanning.
// `declarations.ts` says what a configuration may contain for each.

import { bridgeModule } from './bridge/index.ts';
import { consoleModule } from './console/index.ts';
import { cronModule } from './cron/index.ts';
import { engineModule } from './engine/index.ts';
import { eventsModule } from './events/index.ts';
import { httpModule } from './http/index.ts';
import type { ModuleDefinition } from './module.ts';
import { observabilityModule } from './observability/index.ts';
import { projectWorkersModule } from './project-workers/index.ts';
import { queueModule } from './queue/index.ts';
import { stateModule } from './state/index.ts';
import { streamModule } from './stream/index.ts';
import { workerManagerModule } from './worker-manager/index.ts';

export const MODULES: readonly ModuleDefinition[] = [
  engineModule,
  observabilityModule,
  consoleModule,
  workerManagerModule,
  projectWorkersModule,
  stateModule,
  queueModule,
  eventsModule,
  cronModule,
  streamModule,
  httpModule,
  bridgeModule,
];
