// typia compiles these into straight-line checks (`npm run generate` writes src/generated). `is` runs on the hot path;
// `validate` runs only on a frame that `is` refused, to say what is wrong with it. An unparsed JSON value is a string
// here, for any content.

import typia, { type tags } from 'typia';
import type {
  EnqueueAction,
  ErrorBody,
  InvocationResult,
  InvokeFunction,
  Reattach,
  RegisterFunction,
  RegisterService,
  RegisterTrigger,
  RegisterTriggerType,
  TriggerRegistrationResult,
  UnregisterFunction,
  UnregisterTrigger,
  UnregisterTriggerType,
} from '../protocol/frames/frames.ts';
import type { UrlInvocation } from '../router/calls/url-invocation.ts';
import type { RelayedOrigin } from '../router/remote/remote-engine.ts';

export const isRegisterFunction = typia.createIs<RegisterFunction<string>>();
export const isUnregisterFunction = typia.createIs<UnregisterFunction>();
export const isRegisterService = typia.createIs<RegisterService>();
export const isRegisterTriggerType = typia.createIs<RegisterTriggerType<string>>();
export const isUnregisterTriggerType = typia.createIs<UnregisterTriggerType>();
export const isRegisterTrigger = typia.createIs<RegisterTrigger<string>>();
export const isUnregisterTrigger = typia.createIs<UnregisterTrigger<string>>();
export const isTriggerRegistrationResult = typia.createIs<TriggerRegistrationResult<string>>();
export const isInvokeFunction = typia.createIs<InvokeFunction<string>>();
export const isInvocationResult = typia.createIs<InvocationResult<string>>();
export const isEnqueueAction = typia.createIs<EnqueueAction>();
export const isReattach = typia.createIs<Reattach>();
export const isErrorBody = typia.createIs<ErrorBody>();
export const isRelayedOrigin = typia.createIs<RelayedOrigin>();

export const validateRegisterFunction = typia.createValidate<RegisterFunction<string>>();
export const validateUnregisterFunction = typia.createValidate<UnregisterFunction>();
export const validateRegisterService = typia.createValidate<RegisterService>();
export const validateRegisterTriggerType = typia.createValidate<RegisterTriggerType<string>>();
export const validateUnregisterTriggerType = typia.createValidate<UnregisterTriggerType>();
export const validateRegisterTrigger = typia.createValidate<RegisterTrigger<string>>();
export const validateUnregisterTrigger = typia.createValidate<UnregisterTrigger<string>>();
export const validateTriggerRegistrationResult = typia.createValidate<TriggerRegistrationResult<string>>();
export const validateInvokeFunction = typia.createValidate<InvokeFunction<string>>();
export const validateInvocationResult = typia.createValidate<InvocationResult<string>>();
export const validateReattach = typia.createValidate<Reattach>();

/**
 * A call: known flags; no packed payload without a payload; a function number below NAMES_MAX; a timeout up to an hour;
 * any depth that the field can hold.
 */
interface CheckedCallHeader {
  flags:
    | (number & tags.Type<'uint32'> & tags.Maximum<63>)
    | (number & tags.Type<'uint32'> & tags.Minimum<160> & tags.Maximum<191>);
  depth: number & tags.Type<'uint32'> & tags.Maximum<65_535>;
  idLow: number & tags.Type<'uint32'>;
  idHigh: number & tags.Type<'uint32'>;
  functionNumber: number & tags.Type<'uint32'> & tags.Maximum<65_535>;
  timeoutMs: number & tags.Type<'uint32'> & tags.Maximum<3_600_000>;
}

/** A result: no flags but payload, and error, unhanded error, packed form or the record of a reply. */
interface CheckedResultHeader {
  flags: (0 | 32 | 33 | 96 | 98 | 160) & number;
  idLow: number & tags.Type<'uint32'>;
  idHigh: number & tags.Type<'uint32'>;
}

export const isCallHeader = typia.createIs<CheckedCallHeader>();
export const isResultHeader = typia.createIs<CheckedResultHeader>();

export const validateUrlInvocation = typia.createValidate<UrlInvocation>();
