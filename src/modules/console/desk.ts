// What the routes of the console share.

import type { ModuleContext } from '../module.ts';
import { BuiltIns } from './facts/built-ins.ts';
import { Figures } from './facts/figures.ts';
import { Tasks } from './facts/tasks.ts';
import { WorkerFigures } from './facts/worker-figures.ts';
import { WorkerHistory } from './facts/worker-history.ts';

export interface Desk {
  readonly context: ModuleContext;
  readonly builtIns: BuiltIns;
  readonly figures: Figures;
  readonly workerFigures: WorkerFigures;
  readonly tasks: Tasks;
  readonly history: WorkerHistory;
}

export function createDesk(context: ModuleContext): Desk {
  const builtIns = new BuiltIns(context.router);
  return {
    context,
    builtIns,
    figures: new Figures(context.router, builtIns),
    workerFigures: new WorkerFigures(context.router, builtIns),
    tasks: new Tasks(context),
    history: new WorkerHistory(context.router),
  };
}
