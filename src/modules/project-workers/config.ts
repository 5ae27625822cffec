// `svc-workers` has no entry of its own: what it goes by are the entries with a `path`.

import { fields } from '../../core/fields.ts';
import type { ModuleDeclaration } from '../../core/module-declaration.ts';

export const projectWorkersDeclaration: ModuleDeclaration = {
  name: 'svc-workers',
  aliases: [],
  classes: [],
  repeatable: false,
  alwaysLoaded: true,
  config: fields({}),
  adapters: [],
};
