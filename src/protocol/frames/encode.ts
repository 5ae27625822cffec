// Frames of the engine → the text to send. Engine side only.
//
// Built field by field: absent fields are left out (the wire never carries null for them), payloads are inserted as the
// text in which they arrived. The order of fields is fixed, so that the golden files can hold a frame as one line.

import { type ByteString, type RawJson, rawJson, textToByteString } from '../json/byte-string.ts';
import type { EngineFrame, InvocationResult, InvokeFunction, RegisterTrigger } from './frames.ts';

export function encodeEngineFrame(frame: EngineFrame<RawJson>): ByteString {
  switch (frame.type) {
    case 'invokefunction':
      return encodeInvoke(frame);
    case 'invocationresult':
      return encodeResult(frame);
    case 'registertrigger':
      return encodeRegisterTrigger(frame);
    case 'unregistertrigger':
      return join(
        `{"type":"unregistertrigger","id":${quote(frame.id)}`,
        text('trigger_type', frame.trigger_type),
        text('function_id', frame.function_id),
        raw('config', frame.config),
        raw('metadata', frame.metadata),
      );
    case 'triggerregistrationresult':
      return join(
        `{"type":"triggerregistrationresult","id":${quote(frame.id)},"trigger_type":${quote(frame.trigger_type)}`,
        `,"function_id":${quote(frame.function_id)}`,
        raw('error', frame.error),
      );
    case 'workerregistered':
    case 'registrationrejected':
    case 'draining':
    case 'ping':
    case 'pong':
      return rawJson(frame);
  }
}

function encodeInvoke(frame: InvokeFunction<RawJson>): ByteString {
  return join(
    `{"type":"invokefunction"`,
    text('invocation_id', frame.invocation_id),
    `,"function_id":${quote(frame.function_id)},"data":${frame.data ?? 'null'}`,
    raw('metadata', frame.metadata),
    text('traceparent', frame.traceparent),
    text('baggage', frame.baggage),
    frame.timeout_ms === undefined ? '' : `,"timeout_ms":${frame.timeout_ms}`,
    frame.trigger === undefined ? '' : `,"trigger":${rawJson(frame.trigger)}`,
  );
}

function encodeResult(frame: InvocationResult<RawJson>): ByteString {
  return join(
    `{"type":"invocationresult","invocation_id":${quote(frame.invocation_id)}`,
    text('function_id', frame.function_id),
    raw('result', frame.result),
    raw('error', frame.error),
    text('traceparent', frame.traceparent),
    text('baggage', frame.baggage),
  );
}

function encodeRegisterTrigger(frame: RegisterTrigger<RawJson>): ByteString {
  return join(
    `{"type":"registertrigger","id":${quote(frame.id)},"trigger_type":${quote(frame.trigger_type)}`,
    `,"function_id":${quote(frame.function_id)},"config":${frame.config ?? 'null'}`,
    raw('metadata', frame.metadata),
    text('namespace', frame.namespace),
  );
}

/** Joins parts that are already byte strings and closes the object. */
function join(...parts: string[]): ByteString {
  let out = '';
  for (const part of parts) out += part;
  return `${out}}` as ByteString;
}

function text(name: string, value: string | undefined): string {
  return value === undefined ? '' : `,"${name}":${quote(value)}`;
}

function raw(name: string, value: RawJson | undefined): string {
  return value === undefined ? '' : `,"${name}":${value}`;
}

/** A JSON string; ids and headers are nearly always plain ASCII, which needs no escaping pass. */
function quote(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : textToByteString(JSON.stringify(value));
}

const PLAIN = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;
