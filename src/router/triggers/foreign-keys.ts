// Keys of trigger configs that no type of ours knows, such as `description`. Applications written for `iii` send them:
// in drop-in mode they are kept and shown, and have no effect (T9). Otherwise a type refuses them.

import { isMap } from '../../core/config-fields/fields-check.ts';
import type { Logger } from '../../effects/logger.ts';
import { parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { ModuleTriggerType } from '../builtin.ts';

export class ForeignKeys {
  readonly #logger: Logger;
  readonly #logged = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The config with the keys that the type's schema lists, in one form: equal configs are equal text. */
  without({ id, spec }: ModuleTriggerType, config: RawJson): RawJson {
    const given = parseRawJson(config);
    const known = knownKeys(spec.configFormat);
    if (known === undefined || !isMap(given)) return config;
    const foreign = Object.keys(given).filter((key) => !known.has(key));
    if (foreign.length > 0) this.#log(id, foreign);
    return rawJson(Object.fromEntries(Object.entries(given).filter(([key]) => known.has(key))));
  }

  #log(type: string, keys: readonly string[]): void {
    if (this.#logged.has(type)) return;
    this.#logged.add(type);
    const shown = keys.slice(0, KEYS_SHOWN_MAX).map((key) => key.slice(0, KEY_CHARS_MAX));
    this.#logger.warn('Triggers have keys in their config that have no effect here', {
      trigger_type: type,
      keys: shown,
    });
  }
}

const KEYS_SHOWN_MAX = 10;
const KEY_CHARS_MAX = 64;

function knownKeys(format: RawJson | undefined): ReadonlySet<string> | undefined {
  const schema = format === undefined ? undefined : parseRawJson(format);
  if (!isMap(schema) || !isMap(schema.properties)) return undefined;
  return new Set([...Object.keys(schema.properties), 'condition_function_id']);
}
