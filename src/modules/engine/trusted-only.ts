import { Refusal } from '../../core/calls/refusal.ts';
import type { BuiltinCall } from '../../router/builtin.ts';

/** For functions that a restricted connection must not call, even where its port exposes them. */
export function assertTrusted(functionId: string, { rights }: Pick<BuiltinCall, 'rights'>): void {
  if (rights !== undefined) throw new Refusal('FORBIDDEN', `${functionId} is for trusted connections only`);
}
