// Bytes from a worker → one checked frame, or a refusal with its reason. Engine side only.
//
// The steps: scan the JSON, pick out the fields, run the typia-compiled validator of that message.
// The router logs, counts and drops a refused frame; the connection stays open (wire 1.5).

import * as check from '../../generated/worker-frames.ts';
import type { RawJson } from '../json/byte-string.ts';
import { mismatchText } from '../json/expected-text.ts';
import { Envelope, envelopeAt, type MemberRanges, readEnvelope, type ScanOffence } from './envelope.ts';
import type { WorkerFrame } from './frames.ts';

export interface DecodeRefusal {
  readonly type: 'refused';
  readonly reason: string;
  /** The call whose caller would wait in vain if the frame were only dropped. */
  readonly concerns?: Concerned;
}

/** A call that a refused frame made, or answered. */
export interface Concerned {
  readonly as: 'caller' | 'executor';
  readonly invocationId: string;
  readonly functionId: string;
}

export function decodeWorkerFrame(bytes: Uint8Array): WorkerFrame<RawJson> | DecodeRefusal {
  return checkEnvelope(readEnvelope(bytes));
}

/** Decodes a frame whose members another thread has located. */
export function decodeLocatedFrame(
  bytes: Uint8Array,
  ranges: MemberRanges | ScanOffence,
): WorkerFrame<RawJson> | DecodeRefusal {
  // A frame that is not JSON is read again up to the error, for the fields before it.
  return checkEnvelope(ranges instanceof Int32Array ? envelopeAt(bytes, ranges) : readEnvelope(bytes));
}

function checkEnvelope(envelope: Envelope | ScanOffence): WorkerFrame<RawJson> | DecodeRefusal {
  if (!(envelope instanceof Envelope)) return refuse(`not a JSON object: ${envelope.reason}`, envelope.seen);
  if (typeof envelope.type !== 'string') return refuse("field 'type' must be a string");
  if (envelope.type === 'ping' || envelope.type === 'pong' || envelope.type === 'draining') {
    return { type: envelope.type };
  }
  const rules = Object.hasOwn(RULES, envelope.type) ? RULES[envelope.type as RuledType] : undefined;
  if (rules === undefined) return refuse(`unknown type '${envelope.type.slice(0, 64)}'`);
  if (!rules.is(envelope)) return refuse(describe(rules.validate(envelope)), envelope);
  // The validator above has just proved the shape; `readEnvelope` scanned the payload fields as JSON.
  return envelope as unknown as WorkerFrame<RawJson>;
}

interface Rules {
  is(input: unknown): boolean;
  validate(input: unknown): Validation;
}

type Validation =
  | { success: true }
  | { success: false; errors: readonly { path: string; expected: string; value?: unknown }[] };

const RULES = {
  invokefunction: { is: check.isInvokeFunction, validate: check.validateInvokeFunction },
  invocationresult: { is: check.isInvocationResult, validate: check.validateInvocationResult },
  registerfunction: { is: check.isRegisterFunction, validate: check.validateRegisterFunction },
  unregisterfunction: { is: check.isUnregisterFunction, validate: check.validateUnregisterFunction },
  registerservice: { is: check.isRegisterService, validate: check.validateRegisterService },
  registertrigger: { is: check.isRegisterTrigger, validate: check.validateRegisterTrigger },
  unregistertrigger: { is: check.isUnregisterTrigger, validate: check.validateUnregisterTrigger },
  registertriggertype: { is: check.isRegisterTriggerType, validate: check.validateRegisterTriggerType },
  unregistertriggertype: { is: check.isUnregisterTriggerType, validate: check.validateUnregisterTriggerType },
  triggerregistrationresult: {
    is: check.isTriggerRegistrationResult,
    validate: check.validateTriggerRegistrationResult,
  },
  reattach: { is: check.isReattach, validate: check.validateReattach },
} satisfies Record<string, Rules>;

type RuledType = keyof typeof RULES;

function refuse(reason: string, envelope?: Envelope): DecodeRefusal {
  const concerns = envelope && concernedBy(envelope);
  return { type: 'refused', reason, ...(concerns && { concerns }) };
}

function concernedBy(envelope: Envelope): Concerned | undefined {
  const { type, invocation_id: invocationId, function_id: functionId } = envelope;
  if (typeof invocationId !== 'string' || (type !== 'invokefunction' && type !== 'invocationresult')) return undefined;
  // A fire-and-forget call is never answered, even if it has an id (V1).
  if (isVoid(envelope.action)) return undefined;
  const as = type === 'invokefunction' ? 'caller' : 'executor';
  return { as, invocationId, functionId: typeof functionId === 'string' ? functionId : '' };
}

function isVoid(action: unknown): boolean {
  return typeof action === 'object' && action !== null && 'type' in action && action.type === 'void';
}

function describe(validation: Validation): string {
  if (validation.success) return 'refused by its validator';
  const [first] = validation.errors;
  if (first === undefined) return 'refused by its validator';
  return `field '${first.path.replace('$input.', '')}' ${mismatchText(first.expected, first.value)}`;
}
