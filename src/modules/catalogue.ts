// Every module that the engine knows, as an explicit list: nothing is found by scanning.

import { cronModule } from './cron/index.ts';
import { engineModule } from './engine/index.ts';
import { eventsModule } from './events/index.ts';
import { httpModule } from './http/index.ts';
import type { ModuleDefinition } from './module.ts';
import { queueModule } from './queue/index.ts';
import { stateModule } from './state/index.ts';
import { streamModule } from './stream/index.ts';
import { workerManagerModule } from './worker-manager/index.ts';

export const MODULES: readonly ModuleDefinition[] = [
  engineModule,
  workerManagerModule,
  stateModule,
  queueModule,
  eventsModule,
  cronModule,
  streamModule,
  httpModule,
];

/** Modules of the product that this version does not contain yet: naming one is a start error that says so. */
export const UNBUILT: readonly { readonly names: readonly string[]; readonly message: string }[] = [
  unbuilt('svc-observability', 'modules::observability::OtelModule'),
  unbuilt('svc-exec', 'modules::shell::ExecModule'),
  unbuilt('svc-bridge', 'modules::bridge_client::BridgeClientModule'),
  {
    names: ['svc-http-functions', 'http-functions', 'modules::http_functions::HttpFunctionsModule'],
    message: 'Functions that are a URL need no module: places of the inside go into outgoing.allow. Remove the entry.',
  },
  unbuilt('svc-telemetry', 'modules::telemetry::TelemetryModule'),
];

function unbuilt(name: string, className: string) {
  const short = name.slice('svc-'.length);
  return {
    names: [name, short, className],
    message: `This version of svc does not contain the module ${name} yet. Remove the entry.`,
  };
}
