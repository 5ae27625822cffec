// Secrets that the engine generates and keeps with its data. The key is `k` and the name; the value is written once.

import { joinKey, SPACE } from '../../kv/keys.ts';
import { CommandInput } from '../../thread/command-input.ts';
import type { StoreCommand } from '../../thread/contract.ts';

/** Returns the value under the name: the one kept before, or else the given one. */
const secretsKeep: StoreCommand = {
  name: 'secrets::keep',
  isWrite: true,
  // A few bytes, once in the life of a store: an engine with a full disk starts as usual.
  usesReserve: true,
  run(kv, bytes) {
    const key = joinKey(SPACE.secrets, new CommandInput('secrets::keep', bytes).name('name'));
    const kept = kv.get(key);
    if (kept !== undefined) return { result: kept };
    kv.put(key, bytes);
    return { result: bytes };
  },
};

export const SECRET_COMMANDS: readonly StoreCommand[] = [secretsKeep];
