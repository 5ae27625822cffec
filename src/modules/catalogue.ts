// Every module that the engine knows, as an explicit list: nothing is found by scanning.

import { engineModule } from './engine/index.ts';
import type { ModuleDefinition } from './module.ts';
import { workerManagerModule } from './worker-manager/index.ts';

export const MODULES: readonly ModuleDefinition[] = [engineModule, workerManagerModule];

/** Modules of the product that this version does not contain yet: naming one is a start error that says so. */
export const UNBUILT: readonly { readonly names: readonly string[]; readonly message: string }[] = [
  unbuilt('svc-state', 'modules::state::StateModule'),
  unbuilt('svc-stream', 'modules::stream::StreamModule'),
  unbuilt('svc-http', 'modules::api::RestApiModule'),
  unbuilt('svc-queue', 'modules::queue::QueueModule'),
  unbuilt('svc-pubsub', 'modules::pubsub::PubSubModule'),
  unbuilt('svc-cron', 'modules::cron::CronModule'),
  unbuilt('svc-observability', 'modules::observability::OtelModule'),
  unbuilt('svc-exec', 'modules::shell::ExecModule'),
  unbuilt('svc-bridge', 'modules::bridge_client::BridgeClientModule'),
  unbuilt('svc-http-functions', 'modules::http_functions::HttpFunctionsModule'),
  unbuilt('svc-telemetry', 'modules::telemetry::TelemetryModule'),
];

function unbuilt(name: string, className: string) {
  const short = name.slice('svc-'.length);
  return {
    names: [name, short, className],
    message: `This version of svc does not contain the module ${name} yet. Remove the entry.`,
  };
}
