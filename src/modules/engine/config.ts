// `svc-engine-functions` has nothing to configure; the entry may be listed for completeness.

import { fields } from '../../core/fields.ts';
import type { ModuleDeclaration } from '../../core/module-declaration.ts';

export const engineFunctionsDeclaration: ModuleDeclaration = {
  name: 'svc-engine-functions',
  aliases: ['engine-functions'],
  classes: [],
  repeatable: false,
  alwaysLoaded: true,
  config: fields({}),
  adapters: [],
};
