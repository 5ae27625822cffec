// Every frame of the wire, as files that show each change. `test/golden/<type>.json` holds texts that workers send
// and the frames they mean, and frames of the engine and the exact text they become. The files hold payload fields as
// JSON text, because the engine holds them that way.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeWorkerFrame } from '../../../../src/protocol/frames/decode.ts';
import { encodeEngineFrame } from '../../../../src/protocol/frames/encode.ts';
import type { EngineFrame, WorkerFrame } from '../../../../src/protocol/frames/frames.ts';
import { asRawJson, byteStringToText, textToByteString } from '../../../../src/protocol/json/byte-string.ts';

const FOLDER = join(import.meta.dirname, '../../../golden');
const PAYLOAD_FIELDS: ReadonlySet<string> = new Set([
  'data',
  'result',
  'error',
  'config',
  'metadata',
  'invocation',
  'request_format',
  'response_format',
  'trigger_request_format',
  'call_request_format',
]);

// The compiler checks both lists against the unions of `frames.ts`.
const FROM_WORKER: Record<WorkerFrame<string>['type'], true> = {
  registerfunction: true,
  unregisterfunction: true,
  registerservice: true,
  registertriggertype: true,
  unregistertriggertype: true,
  registertrigger: true,
  unregistertrigger: true,
  triggerregistrationresult: true,
  invokefunction: true,
  invocationresult: true,
  reattach: true,
  draining: true,
  ping: true,
  pong: true,
};
const TO_WORKER: Record<EngineFrame<string>['type'], true> = {
  workerregistered: true,
  registrationrejected: true,
  registertrigger: true,
  unregistertrigger: true,
  triggerregistrationresult: true,
  invokefunction: true,
  invocationresult: true,
  draining: true,
  ping: true,
  pong: true,
};

interface GoldenCase {
  readonly case: string;
  readonly text: string;
  readonly frame: Readonly<Record<string, unknown>>;
}

interface GoldenFile {
  readonly fromWorker?: readonly GoldenCase[];
  readonly toWorker?: readonly GoldenCase[];
}

const files = new Map<string, GoldenFile>(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name.replace('.json', ''), JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))]),
);

test('[wire 2.2] Every frame of both directions has a golden file, and every file a frame', () => {
  const withPart = (part: keyof GoldenFile) => [...files].filter(([, file]) => file[part]).map(([name]) => name);
  expect(withPart('fromWorker').sort()).toEqual(Object.keys(FROM_WORKER).sort());
  expect(withPart('toWorker').sort()).toEqual(Object.keys(TO_WORKER).sort());
});

describe.each(casesOf('fromWorker'))('%s from a worker', (name, { case: title, text, frame }) => {
  test(`[wire 2.3] It is read as the file says: ${title}`, () => {
    const decoded = decodeWorkerFrame(new TextEncoder().encode(text));
    expect(readable(decoded)).toEqual(frame);
    expect(decoded.type).toBe(name);
  });
});

describe.each(casesOf('toWorker'))('%s to a worker', (name, { case: title, text, frame }) => {
  test(`[wire 2.3] It is written as the file says: ${title}`, () => {
    expect(byteStringToText(encodeEngineFrame(asEngineFrame(frame)))).toBe(text);
    expect(JSON.parse(text)).toHaveProperty('type', name);
  });
});

function casesOf(part: keyof GoldenFile): [string, GoldenCase][] {
  return [...files].flatMap(([name, file]) => (file[part] ?? []).map((one): [string, GoldenCase] => [name, one]));
}

/** A decoded frame without its absent fields, its payloads as ordinary text. */
function readable(frame: object): Record<string, unknown> {
  const fields = Object.entries(frame).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, PAYLOAD_FIELDS.has(name) ? byteStringToText(value) : value]),
  );
}

/** The encoder's own output ties the files to the types, so their shape is not checked here. */
function asEngineFrame(frame: GoldenCase['frame']): Parameters<typeof encodeEngineFrame>[0] {
  const fields = Object.entries(frame).map(([name, value]) => [
    name,
    PAYLOAD_FIELDS.has(name) && typeof value === 'string' ? asRawJson(textToByteString(value)) : value,
  ]);
  return Object.fromEntries(fields);
}
