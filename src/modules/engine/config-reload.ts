// `engine::config::reload`: reads the configuration file again; the engine then uses it, or keeps what it had (K1).

import { Refusal } from '../../core/calls/refusal.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { ModuleContext } from '../module.ts';

const ID = 'engine::config::reload';

export function configReload({ configuration }: ModuleContext): BuiltinDefinition {
  return {
    id: ID,
    description: 'Reads the configuration file again; changes everything that it says, or nothing',
    async handle(_payload, call) {
      assertTrusted(ID, call);
      const report = await configuration.reload();
      if (!report.ok) throw new Refusal('BAD_REQUEST', report.problems.join('\n'));
      return { changes: report.changes };
    },
  };
}
