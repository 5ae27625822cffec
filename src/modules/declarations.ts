// The configuration schema of every module that the engine knows, without the code of the modules, so that a command
// can check a file without starting anything. In the order of `catalogue.ts`.

import type { ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import { bridgeDeclaration } from './bridge/config.ts';
import { consoleDeclaration } from './console/config.ts';
import { cronDeclaration } from './cron/config.ts';
import { engineFunctionsDeclaration } from './engine/config.ts';
import { eventsDeclaration } from './events/config.ts';
import { httpDeclaration } from './http/config.ts';
import { otelDeclaration } from './observability/config.ts';
import { projectWorkersDeclaration } from './project-workers/config.ts';
import { queueDeclaration } from './queue/config.ts';
import { stateDeclaration } from './state/config.ts';
import { streamDeclaration } from './stream/config.ts';
import { workerManagerDeclaration } from './worker-manager/config.ts';

export const DECLARATIONS: readonly ModuleDeclaration[] = [
  engineFunctionsDeclaration,
  otelDeclaration,
  consoleDeclaration,
  workerManagerDeclaration,
  projectWorkersDeclaration,
  stateDeclaration,
  queueDeclaration,
  eventsDeclaration,
  cronDeclaration,
  streamDeclaration,
  httpDeclaration,
  bridgeDeclaration,
];

/** Modules of the product that this version does not contain yet: naming one is a start error that says so. */
export const UNBUILT: readonly { readonly names: readonly string[]; readonly message: string }[] = [
  {
    names: ['svc-exec', 'exec'],
    message: "A program that the engine starts is a worker with 'path' and 'scripts.start'. Replace the entry.",
  },
  {
    names: ['svc-http-functions', 'http-functions'],
    message: 'Functions that are a URL need no module: list internal addresses in outgoing.allow. Remove the entry.',
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
