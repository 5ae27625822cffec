import { fields } from '../../core/config-fields/fields.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';

export const consoleDeclaration: ModuleDeclaration = {
  name: 'svc-console-api',
  aliases: [],
  classes: [],
  repeatable: false,
  alwaysLoaded: true,
  config: fields({}),
  adapters: [],
};
