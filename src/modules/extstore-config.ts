// The settings of every `extstore` adapter that locate its Redis.

import { fields, optional, text, url, type ValueOf } from '../core/config-fields/fields.ts';
import { StartFailure } from '../effects/start-failure.ts';

const URL_DEFAULT = 'redis://localhost:6379';

export const EXTSTORE_FIELDS = {
  extstore_url: optional(url({ help: `Address of the Redis; ${URL_DEFAULT} if omitted` })),
  redis_url: optional(url({ help: 'The same under its other name' })),
  key_prefix: text({ default: 'svc:', bytesMax: 64, help: 'Prefix of every key and channel' }),
};

export const EXTSTORE_CONFIG = fields(EXTSTORE_FIELDS);

export type ExtstoreConfig = ValueOf<typeof EXTSTORE_CONFIG>;

export function extstoreUrl(config: Pick<ExtstoreConfig, 'extstore_url' | 'redis_url'>): string {
  const { extstore_url: named, redis_url: other } = config;
  if (named !== undefined && other !== undefined && named !== other) {
    throw new StartFailure(78, 'extstore_url and redis_url are two names of one setting: give one of them');
  }
  return named ?? other ?? URL_DEFAULT;
}
