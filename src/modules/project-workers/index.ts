// `svc-workers`: starts the programs of the configuration that have a `path`, and keeps them running. Always loaded.

import { defineModule } from '../module.ts';
import { projectWorkersDeclaration } from './config.ts';
import { workerFunctions } from './functions.ts';
import type { SupervisedWorker } from './supervised-worker.ts';
import { Supervisor } from './supervisor.ts';

export const projectWorkersModule = defineModule({
  declaration: projectWorkersDeclaration,
  create(context) {
    const { configuration } = context;
    const supervisor = new Supervisor(context);
    const follow = (): void => supervisor.follow(configuration.projectWorkers);
    return {
      functions: workerFunctions(context, supervisor),
      triggerTypes: [],
      async start() {},
      started() {
        configuration.onReload(follow);
        follow();
      },
      // Running calls may need them to the end.
      drain() {},
      stop: () => supervisor.stop(),
      close: () => supervisor.close(),
      listeners: () => [],
      health() {
        const details = { workers: supervisor.all().length };
        const reasons = [
          nameAll(
            supervisor,
            'These workers end repeatedly',
            ({ state, isMissing }) => state === 'crash_loop' && !isMissing,
          ),
          nameAll(supervisor, 'These workers could not be started', ({ isMissing }) => isMissing),
        ].filter((reason) => reason !== undefined);
        if (reasons.length === 0) return { status: 'healthy', details };
        return { status: 'degraded', details: { ...details, reason: reasons.join('; ') } };
      },
    };
  },
});

/** The names of the workers with a problem; undefined if there is none. */
function nameAll(supervisor: Supervisor, what: string, isMeant: (worker: SupervisedWorker) => boolean) {
  const names = supervisor.all().flatMap((worker) => (isMeant(worker) ? [worker.entry.name] : []));
  return names.length === 0 ? undefined : `${what}: ${names.join(', ')}`;
}
