// The fields of handler spans, for every exporter.

import { isSvcError } from '../calls/errors.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import { textOf } from './otlp-json.ts';

/** Semantic conventions for remote calls. */
export function callFields({ functionId, trigger }: DeliveredCall): Record<string, unknown> {
  return {
    function_id: functionId,
    'rpc.system': 'svc',
    'rpc.method': functionId,
    'trigger.type': trigger?.type,
    'trigger.id': trigger?.id,
  };
}

export function describeFailure(thrown: unknown): { type: string; message: string; stack: string } {
  if (isSvcError(thrown)) return { type: thrown.code, message: thrown.message, stack: thrown.stack ?? '' };
  if (thrown instanceof Error) return { type: thrown.name, message: thrown.message, stack: thrown.stack ?? '' };
  return { type: typeof thrown, message: textOf(thrown), stack: '' };
}
