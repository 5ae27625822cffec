// `svc-engine-functions`: what the engine tells of itself. Always loaded.

import { defineModule, HOLDS_NOTHING } from '../module.ts';
import { storesBackup } from './backup.ts';
import { channelsCreate } from './channels.ts';
import { engineFunctionsConfig } from './config.ts';
import { DurableTriggers } from './durable-triggers.ts';
import { fireTrigger } from './fire.ts';
import { functionsInfo, functionsList } from './functions-list.ts';
import { healthCheck } from './health.ts';
import { engineTriggerTypes } from './trigger-types.ts';
import {
  registeredTriggersInfo,
  registeredTriggersList,
  registerTrigger,
  triggersInfo,
  triggersList,
  triggerTypesList,
  unregisterTrigger,
} from './triggers.ts';
import { workersInfo, workersList, workersRegister } from './workers.ts';

export const engineModule = defineModule({
  declaration: {
    name: 'svc-engine-functions',
    aliases: ['engine-functions'],
    classes: [],
    repeatable: false,
    alwaysLoaded: true,
    config: engineFunctionsConfig,
    adapters: [],
  },
  create(context) {
    const durable = new DurableTriggers(context);
    return {
      ...HOLDS_NOTHING,
      start: () => durable.load(),
      functions: [
        functionsList(context.router),
        functionsInfo(context.router),
        workersRegister(context.router),
        workersList(context),
        workersInfo(context),
        triggersList(context.router),
        triggersInfo(context.router),
        triggerTypesList(context.router),
        registeredTriggersList(context.router),
        registeredTriggersInfo(context.router),
        registerTrigger(durable),
        unregisterTrigger(context.router, durable),
        fireTrigger(context.router),
        channelsCreate(context.router),
        storesBackup(context),
        healthCheck(context),
      ],
      triggerTypes: engineTriggerTypes,
      health: () => ({ status: 'healthy' }),
    };
  },
});
