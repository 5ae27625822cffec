// What the routes of the console share.

import type { ModuleContext } from '../module.ts';
import { BuiltIns } from './sources/built-ins.ts';
import { Figures, WorkerFigures } from './sources/figures.ts';
import { Tasks } from './sources/tasks.ts';
import { WorkerHistory } from './sources/worker-history.ts';

export interface ConsoleContext {
  readonly module: ModuleContext;
  readonly builtIns: BuiltIns;
  readonly figures: Figures;
  readonly workerFigures: WorkerFigures;
  readonly tasks: Tasks;
  readonly history: WorkerHistory;
}

export function createConsoleContext(module: ModuleContext): ConsoleContext {
  const builtIns = new BuiltIns(module.router);
  return {
    module,
    builtIns,
    figures: new Figures(module.router, builtIns),
    workerFigures: new WorkerFigures(module.router, builtIns),
    tasks: new Tasks(module),
    history: new WorkerHistory(module.router),
  };
}
