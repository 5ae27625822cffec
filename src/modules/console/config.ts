import { fields } from '../../core/fields.ts';
import type { ModuleDeclaration } from '../../core/module-declaration.ts';

export const consoleDeclaration: ModuleDeclaration = {
  name: 'svc-console-api',
  aliases: [],
  classes: [],
  repeatable: false,
  alwaysLoaded: true,
  config: fields({}),
  adapters: [],
};
