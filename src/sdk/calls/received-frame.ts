// Reads JSON frames of the engine: parses them and checks the fields that the SDK relies on.

import type { InvocationResult, InvokeFunction } from '../../protocol/frames/frames.ts';
import { isRecord } from '../schema/record.ts';
import type { ReceivedFrame } from '../wire/wire.ts';

export type JsonFrame = ReceivedFrame | InvocationResult<unknown> | JsonCall;
/** A call from the engine to this worker always has an id. */
export type JsonCall = InvokeFunction<unknown> & { invocation_id: string };

export interface Unreadable {
  readonly type: 'unreadable';
  readonly problem: string;
}

/** Reads the frame from a text of the engine, or says what is wrong with the text. */
export function readFrame(text: string): JsonFrame | Unreadable {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : String(error));
  }
  if (!isRecord(frame)) return unreadable('not a JSON object');
  if (isJsonFrame(frame)) return frame;
  return unreadable(`type ${JSON.stringify(frame.type)} is unknown or lacks a required field`);
}

export function isOrigin(value: unknown): value is { type: string; id: string } {
  return isRecord(value) && isText(value.type) && isText(value.id);
}

type Fields = Record<string, unknown>;

/** Checks only what the SDK relies on: the engine may add fields at any time. */
function isJsonFrame(frame: Fields): frame is Fields & JsonFrame {
  switch (frame.type) {
    case 'invocationresult':
      return isText(frame.invocation_id) && isOptionalText(frame.traceparent);
    case 'invokefunction':
      return (
        isText(frame.function_id) &&
        isText(frame.invocation_id) &&
        (frame.timeout_ms === undefined || typeof frame.timeout_ms === 'number') &&
        isOptionalText(frame.traceparent) &&
        isOptionalText(frame.baggage) &&
        (frame.trigger === undefined || isOrigin(frame.trigger))
      );
    case 'workerregistered':
      return isText(frame.worker_id) && isText(frame.reattach_token);
    case 'registrationrejected':
      return (
        isText(frame.code) && isText(frame.function_id) && isOptionalText(frame.trigger_type) && isText(frame.message)
      );
    case 'registertrigger':
      return isText(frame.id) && isText(frame.trigger_type) && isText(frame.function_id);
    case 'unregistertrigger':
      return isText(frame.id) && isOptionalText(frame.trigger_type) && isOptionalText(frame.function_id);
    case 'triggerregistrationresult':
      return isText(frame.id) && isText(frame.trigger_type) && isText(frame.function_id);
    case 'draining':
    case 'ping':
    case 'pong':
      return true;
    default:
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function unreadable(problem: string): Unreadable {
  return { type: 'unreadable', problem };
}
