// The engine's own trigger types: they report that functions or workers were added or removed.

import { rawJson } from '../../protocol/json/byte-string.ts';
import type { ModuleTriggerType } from '../../router/builtin.ts';
import { FUNCTIONS_AVAILABLE, WORKERS_AVAILABLE } from '../../router/registrations/announcements.ts';

const EMPTY_CONFIG = rawJson({ type: 'object', properties: {}, additionalProperties: false });

export const engineTriggerTypes: readonly ModuleTriggerType[] = [
  {
    id: FUNCTIONS_AVAILABLE,
    facts: {
      description: 'Fires when the set of registered functions changed; the limit is four firings a second',
      configFormat: EMPTY_CONFIG,
      payloadFormat: rawJson({
        type: 'object',
        properties: { event: { const: 'functions_changed' }, functions: { type: 'array' } },
      }),
    },
    refuse: refuseSettings,
  },
  {
    id: WORKERS_AVAILABLE,
    facts: {
      description: 'Fires when a worker connected, disconnected or changed its description',
      configFormat: EMPTY_CONFIG,
      payloadFormat: rawJson({
        type: 'object',
        properties: {
          event: { enum: ['worker_connected', 'worker_disconnected', 'worker_metadata_updated'] },
          worker_id: { type: 'string' },
        },
      }),
    },
    refuse: refuseSettings,
  },
];

function refuseSettings(config: unknown): string | undefined {
  if (config === null) return undefined;
  if (typeof config !== 'object' || Array.isArray(config)) return 'The config must be an empty object';
  const [key] = Object.keys(config);
  return key === undefined ? undefined : `The config must be an empty object, found the key '${key.slice(0, 64)}'`;
}
