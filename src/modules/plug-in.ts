import type { RouterContext } from '../router/context.ts';
import type { EngineModule } from './module.ts';

/** Hangs what a module offers into the router, under the module's name. */
export function plugIn(
  { functions, triggers }: RouterContext,
  module: string,
  offered: Pick<EngineModule, 'functions' | 'triggerTypes'>,
): void {
  for (const handler of offered.functions) {
    const { id, description } = handler;
    const facts = { description, requestFormat: undefined, responseFormat: undefined, metadata: undefined };
    functions.addBuiltin({ kind: 'builtin', id, module, facts, handler });
  }
  for (const type of offered.triggerTypes) triggers.addModuleType(type.id, type.facts, type);
}
