// Scripts that Redis runs atomically, called by the hash of their text.

import { createHash } from 'node:crypto';

export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** Hashed when it is first called: an engine without Redis starts sooner. */
export function redisScript(text: string): RedisScript {
  let sha1: string | undefined;
  return {
    text,
    get sha1() {
      sha1 ??= createHash('sha1').update(text).digest('hex');
      return sha1;
    },
  };
}
