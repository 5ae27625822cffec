// Loads cron-parser with the first trigger: most engines start without one, and it takes 10 ms.

import { createRequire } from 'node:module';
import type { CronLibrary } from '../../core/cron/fields.ts';

/** Of CommonJS, and of the bundles of the engine, which hold the library and evaluate it when it is required. */
declare const require: ((id: 'cron-parser') => typeof import('cron-parser')) | undefined;

let library: CronLibrary | undefined;

export function cronLibrary(): CronLibrary {
  library ??= load().CronExpressionParser;
  return library;
}

function load(): typeof import('cron-parser') {
  return typeof require === 'undefined' ? createRequire(import.meta.url)('cron-parser') : require('cron-parser');
}
