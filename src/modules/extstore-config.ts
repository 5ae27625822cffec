// How every `extstore` adapter is told where its Redis is.

import { fields, optional, text, type ValueOf } from '../core/fields.ts';
import { StartFailure } from '../effects/start-failure.ts';

const URL_DEFAULT = 'redis://localhost:6379';

export const EXTSTORE_FIELDS = {
  extstore_url: optional(text({ help: `Address of the Redis; ${URL_DEFAULT} when left out` })),
  redis_url: optional(text({ help: 'The same under its other name' })),
  key_prefix: text({ default: 'svc:', bytesMax: 64, help: 'Before the name of every key and channel' }),
};

export const EXTSTORE_CONFIG = fields(EXTSTORE_FIELDS);

export type ExtstoreConfig = ValueOf<typeof EXTSTORE_CONFIG>;

export function extstoreUrl(config: Pick<ExtstoreConfig, 'extstore_url' | 'redis_url'>): string {
  const { extstore_url: url, redis_url: other } = config;
  if (url !== undefined && other !== undefined && url !== other) {
    throw new StartFailure(78, 'extstore_url and redis_url are two names of one setting: give one of them');
  }
  return url ?? other ?? URL_DEFAULT;
}
