// `svc-engine-functions`: what the engine tells of itself. Always loaded.

import { defineModule, HOLDS_NOTHING } from '../module.ts';
import { channelsCreate } from './channels.ts';
import { engineFunctionsConfig } from './config.ts';
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
  create: (context) => ({
    ...HOLDS_NOTHING,
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
      registerTrigger(context.router),
      unregisterTrigger(context.router),
      channelsCreate(context.router),
      healthCheck(context),
    ],
    triggerTypes: engineTriggerTypes,
    health: () => ({ status: 'healthy' }),
  }),
});
