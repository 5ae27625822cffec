// The modules that may run on every router, a part of those in `catalogue.ts`: a router thread loads no other ones.
// `engine/routers/modules-of-routers.ts` says which of a configuration do.

import { httpModule } from './http/index.ts';
import type { ModuleDefinition } from './module.ts';
import { streamModule } from './stream/index.ts';
import { workerManagerModule } from './worker-manager/index.ts';

export const MODULES_OF_ROUTERS: readonly ModuleDefinition[] = [workerManagerModule, streamModule, httpModule];
