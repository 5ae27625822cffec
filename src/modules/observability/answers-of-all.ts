// Questions about traces and logs in a cluster: what other engines answer goes to the telemetry thread with the
// question, which merges it with what this engine has.

import { Refusal } from '../../core/calls/refusal.ts';
import { validateLogsContext } from '../../generated/telemetry-payloads.ts';
import { isErrorBody } from '../../generated/worker-frames.ts';
import { asRawJson, bytesToByteString, parseRawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { RouterPort } from '../../router/port.ts';
import type { TelemetryClient } from '../../telemetry/client.ts';
import { LOGS_CONTEXT, MERGED_FUNCTIONS } from '../../telemetry/functions/definition.ts';
import type { AskAnswer } from '../../telemetry/tasks.ts';

type Client = Pick<TelemetryClient, 'ask'>;
type Port = Pick<RouterPort, 'others'>;

const MERGED: ReadonlySet<string> = new Set(MERGED_FUNCTIONS);
/** The id of an engine and three numbers take less. */
const CONTEXT_BYTES_MAX = 1024;

/** `input`: JSON, valid until the returned function returns. `isRelayed`: another engine merges the answer. */
export function answersOfAll(client: Client, flush: () => void, router: Port) {
  return async (id: string, input: Uint8Array | undefined, isRelayed: boolean): Promise<AskAnswer> => {
    const engine = id === LOGS_CONTEXT && !isRelayed ? engineIn(input) : undefined;
    if (engine !== undefined) return await answerOf(router, engine, id, input);
    if (!MERGED.has(id)) return await client.ask(id, input, flush);
    if (isRelayed) return await client.ask(id, input, flush, {});
    const asked = router.others.askEngines(id, payloadOf(input));
    if (asked === undefined) return await client.ask(id, input, flush);
    const kept = input && new Uint8Array(input);
    return await client.ask(id, kept, flush, await asked);
  };
}

async function answerOf(router: Port, engine: string, id: string, input: Uint8Array | undefined): Promise<AskAnswer> {
  const asked = router.others.askEngine(engine, id, payloadOf(input));
  if (asked === undefined) return { error: new Refusal('NOT_FOUND', `The cluster has no engine '${engine}'`).toBody() };
  const { result, error } = await asked;
  if (result !== undefined) return new Uint8Array(result).buffer;
  const text = error?.asText();
  const body = text === undefined ? undefined : parseRawJson(text);
  if (isErrorBody(body)) return { error: body };
  return { error: new Refusal('invocation_failed', `The engine '${engine}' answered with no error`).toBody() };
}

/** A record of another engine has its neighbours there. */
function engineIn(input: Uint8Array | undefined): string | undefined {
  if (input === undefined || input.length > CONTEXT_BYTES_MAX) return undefined;
  try {
    const given = validateLogsContext(parseRawJson(asRawJson(bytesToByteString(input))));
    return given.success ? (given.data.engine ?? undefined) : undefined;
  } catch {
    // The telemetry thread says what is wrong with it.
    return undefined;
  }
}

function payloadOf(input: Uint8Array | undefined): Payload | undefined {
  return input && Payload.ofBytes(Buffer.from(input.buffer, input.byteOffset, input.length), 0, input.length);
}
