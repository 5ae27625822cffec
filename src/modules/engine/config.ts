// `svc-engine-functions` has no settings; the entry may be listed for completeness.

import { fields } from '../../core/config-fields/fields.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';

export const engineFunctionsDeclaration: ModuleDeclaration = {
  name: 'svc-engine-functions',
  aliases: ['engine-functions'],
  classes: [],
  repeatable: false,
  alwaysLoaded: true,
  config: fields({}),
  adapters: [],
};
