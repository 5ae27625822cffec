import { builtinEntry } from '../router/builtin.ts';
import type { RouterContext } from '../router/context.ts';
import { addModuleType, removeModuleType } from '../router/triggers/triggers.ts';
import type { EngineModule } from './module.ts';

type Offered = Pick<EngineModule, 'functions' | 'triggerTypes'>;

/** Registers what a module offers with the router, under the module's name. */
export function plugIn(context: RouterContext, module: string, offered: Offered): void {
  for (const handler of offered.functions) context.functions.addBuiltin(builtinEntry(module, handler));
  for (const type of offered.triggerTypes) addModuleType(context, type);
  context.announce.modulesChanged();
}

/** Removes it again. Running calls are answered; triggers of its types wait until it is back. */
export function unplug(context: RouterContext, module: string, offered: Offered): void {
  context.functions.removeBuiltins(module);
  for (const type of offered.triggerTypes) removeModuleType(context, type);
  context.announce.modulesChanged();
}

/**
 * Why the module cannot be added now: a trusted worker has registered an id of its functions or trigger types. No
 * restricted connection can register them.
 */
export function plugInOffence({ functions, triggers }: RouterContext, offered: Offered): string | undefined {
  const taken = offered.functions.find(({ id }) => functions.get(id) !== undefined);
  if (taken !== undefined) return `a worker has registered the function ${taken.id}, which the module provides`;
  const type = offered.triggerTypes.find(({ id }) => triggers.type(id) !== undefined);
  return type && `a worker has registered the trigger type ${type.id}, which the module provides`;
}
