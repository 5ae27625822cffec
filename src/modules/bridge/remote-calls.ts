// Calls of this engine that a function of the other one answers.

import { withDepth } from '../../core/calls/call-depth.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import type { EngineLink, LinkOutcome } from '../../effects/engine-link.ts';
import { LINK_CALL_MS_DEFAULT } from '../../effects/engine-link.ts';
import { Envelope, readEnvelope } from '../../protocol/frames/envelope.ts';
import { asRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { assertTrusted, type BuiltinCall, type RawBuiltinDefinition } from '../../router/builtin.ts';
import type { Outcome } from '../../router/calls/call.ts';
import { storeInput } from '../raw-payload.ts';

/** Marks functions that another engine runs: a bridge mirrors none of them, so that no call goes in circles. */
export const BRIDGED = 'svc.bridge';

export interface RemoteFunction {
  readonly localId: string;
  readonly remoteId: string;
  readonly timeoutMs: number;
  readonly description?: string | undefined;
}

/** A function of this engine that the other one runs. */
export function remoteFunction(link: EngineLink, { localId, remoteId, ...more }: RemoteFunction): RawBuiltinDefinition {
  const { timeoutMs, description = `Calls ${remoteId} of the engine at ${link.address}` } = more;
  return {
    id: localId,
    description,
    metadata: rawJson({ [BRIDGED]: link.address }),
    handleRaw(payload, call, done) {
      callRemote(link, remoteId, payload, call, timeoutMs, done);
    },
  };
}

function callRemote(
  link: EngineLink,
  functionId: string,
  payload: Payload | undefined,
  call: BuiltinCall,
  timeoutMs: number,
  done: (outcome: Outcome) => void,
): void {
  const data = payload === undefined ? undefined : rawOf(storeInput(functionId, payload));
  link.call({ functionId, data, ...causeOf(call) }, timeoutMs, (outcome) => done(outcomeOf(outcome)));
}

const rawOf = (bytes: Buffer): RawJson => asRawJson(bytes.toString('latin1'));

/** The call there continues the chain of calls here (I8). */
function causeOf({ depth, traceparent, baggage }: BuiltinCall) {
  return { traceparent, baggage: withDepth(baggage, depth) };
}

export function outcomeOf({ result, error }: LinkOutcome): Outcome {
  if (error !== undefined) return { error: Payload.ofText(error) };
  return result === undefined ? {} : { result: Payload.ofText(result) };
}

/** `bridge.invoke` and `bridge.invoke_async`: any function of the other engine, by its id. */
export function invokeFunctions(link: EngineLink): readonly RawBuiltinDefinition[] {
  return [
    {
      id: 'bridge.invoke',
      description: 'Calls a function of the other engine: {function_id, data, timeout_ms?}',
      handleRaw(payload, call, done) {
        assertTrusted('bridge.invoke', call);
        const { functionId, data, timeoutMs } = readInvocation('bridge.invoke', payload);
        link.call({ functionId, data, ...causeOf(call) }, timeoutMs, (outcome) => done(outcomeOf(outcome)));
      },
    },
    {
      id: 'bridge.invoke_async',
      description: 'Calls a function of the other engine and waits for no answer: {function_id, data}',
      handleRaw(payload, call, done) {
        assertTrusted('bridge.invoke_async', call);
        const { functionId, data } = readInvocation('bridge.invoke_async', payload);
        if (!link.send({ functionId, data, ...causeOf(call) })) {
          throw new Refusal('bridge_error', `The engine at ${link.address} cannot be reached: ${link.trouble}`);
        }
        done({ result: Payload.ofText(RAW_NULL) });
      },
    },
  ];
}

interface Invocation {
  readonly functionId: string;
  /** As the caller wrote it. */
  readonly data: RawJson | undefined;
  readonly timeoutMs: number;
}

function readInvocation(id: string, payload: Payload | undefined): Invocation {
  const read = readEnvelope(storeInput(id, payload));
  if (!(read instanceof Envelope)) throw new Refusal('deserialization_error', `${id} takes {function_id, data}`);
  const { function_id: functionId, data, timeout_ms: timeoutMs = LINK_CALL_MS_DEFAULT } = read;
  if (typeof functionId !== 'string' || functionId === '') {
    throw new Refusal('deserialization_error', `${id} needs function_id: the id of a function of the other engine`);
  }
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) {
    throw new Refusal('deserialization_error', `timeout_ms of ${id} must be a number of milliseconds`);
  }
  return { functionId, data, timeoutMs };
}
