import type { RouterContext } from '../router/context.ts';
import { takeFromRestricted } from '../router/registrations/functions.ts';
import { addModuleType, removeModuleType } from '../router/triggers/triggers.ts';
import type { EngineModule } from './module.ts';

type Offered = Pick<EngineModule, 'functions' | 'triggerTypes'>;

/** Registers what a module offers with the router, under the module's name. */
export function plugIn(context: RouterContext, module: string, offered: Offered): void {
  for (const handler of offered.functions) {
    const { id, description } = handler;
    takeFromRestricted(context, id, `The module ${module} offers this function from now on`);
    const facts = { description, requestFormat: undefined, responseFormat: undefined, metadata: undefined };
    context.functions.addBuiltin({ kind: 'builtin', id, module, facts, handler });
  }
  for (const type of offered.triggerTypes) addModuleType(context, type);
}

/** Removes it again. Running calls are answered; triggers of its types wait until it is back. */
export function unplug(context: RouterContext, module: string, offered: Offered): void {
  context.functions.removeBuiltins(module);
  for (const type of offered.triggerTypes) removeModuleType(context, type);
}

/** Why the module cannot be added now: a worker has registered an id of its functions or trigger types. */
export function plugInOffence({ functions, triggers }: RouterContext, offered: Offered): string | undefined {
  const taken = offered.functions.find(({ id }) => isOfTrusted(functions.get(id)));
  if (taken !== undefined) return `a worker has registered the function ${taken.id}, which the module provides`;
  const type = offered.triggerTypes.find(({ id }) => triggers.type(id) !== undefined);
  return type && `a worker has registered the trigger type ${type.id}, which the module provides`;
}

/** What only connections of restricted ports offer gives way: else any page could keep a module from being added. */
function isOfTrusted(entry: ReturnType<RouterContext['functions']['get']>): boolean {
  return entry?.kind === 'builtin' || entry?.executors.some(({ access }) => access === undefined) === true;
}
