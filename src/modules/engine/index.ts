// `svc-engine-functions`: the functions of the engine about itself. Always loaded.

import { defineModule, HOLDS_NOTHING } from '../module.ts';
import { clusterHealth, clusterStatus } from './cluster.ts';
import { engineFunctionsDeclaration } from './config.ts';
import { DurableTriggers } from './durable-triggers.ts';
import { functionsInfo, functionsList } from './functions-list.ts';
import { channelsCreate, configReload, healthCheck, storesBackup } from './operations.ts';
import { KeptReservations, reservationsList, reservationsRelease } from './reservations.ts';
import {
  engineTriggerTypes,
  fireTrigger,
  registeredTriggersInfo,
  registeredTriggersList,
  registerTrigger,
  triggersInfo,
  triggersJudged,
  triggersList,
  triggerTypesList,
  unregisterTrigger,
} from './triggers.ts';
import { workersInfo, workersList, workersRegister, workersReplace, workersRevoke } from './workers.ts';

export const engineModule = defineModule({
  declaration: engineFunctionsDeclaration,
  create(context) {
    const durable = new DurableTriggers(context);
    const reservations = new KeptReservations(context);
    return {
      ...HOLDS_NOTHING,
      // Before any port listens: a reserved name must not be taken, and restored triggers reserve names too.
      async start() {
        await reservations.load();
        await durable.load();
      },
      stop: () => reservations.stop(),
      functions: [
        functionsList(context.router),
        functionsInfo(context.router),
        workersRegister(context.router),
        workersList(context),
        workersInfo(context),
        workersRevoke(context),
        workersReplace(context.router),
        reservationsList(context.router),
        reservationsRelease(context.router),
        triggersList(context.router),
        triggersInfo(context.router),
        triggerTypesList(context.router),
        registeredTriggersList(context.router),
        registeredTriggersInfo(context.router),
        registerTrigger(durable),
        unregisterTrigger(durable),
        fireTrigger(context.router),
        triggersJudged(context.router),
        channelsCreate(context.router),
        storesBackup(context),
        healthCheck(context),
        clusterStatus(context),
        configReload(context),
      ],
      triggerTypes: engineTriggerTypes,
      health: () => {
        const { problem } = context.configuration;
        if (problem === undefined) return clusterHealth(context);
        return { status: 'degraded', details: { reason: `The configuration was not reloaded: ${problem}` } };
      },
    };
  },
});
