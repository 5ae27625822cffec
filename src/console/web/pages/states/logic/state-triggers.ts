// Which state triggers a write to an entry fires (STA-7), judging by their configuration. Pure.

interface StateTrigger {
  readonly config: unknown;
  readonly status: string;
}

/** A trigger without a scope or key fires for all of them. */
export function stateTriggersOf<T extends StateTrigger>(triggers: readonly T[], scope: string, key: string): T[] {
  return triggers.filter(({ config, status }) => {
    if (status === 'Inactive') return false;
    const { scope: wantedScope, key: wantedKey } = (config ?? {}) as { scope?: unknown; key?: unknown };
    return (
      (typeof wantedScope !== 'string' || wantedScope === scope) && (typeof wantedKey !== 'string' || wantedKey === key)
    );
  });
}
