// `svc-workers` has no entry of its own: it uses the entries with a `path`.

import { fields } from '../../core/config-fields/fields.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';

export const projectWorkersDeclaration: ModuleDeclaration = {
  name: 'svc-workers',
  aliases: [],
  classes: [],
  repeatable: false,
  alwaysLoaded: true,
  config: fields({}),
  adapters: [],
};
