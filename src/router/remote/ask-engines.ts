// Asks other engines of the cluster what they know, for an answer about all of them. Every engine has the functions
// that are asked.

import { asRawJson, bytesToByteString, parseRawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import { errorLine, type Outcome } from '../calls/call.ts';
import type { RouterContext } from '../context.ts';
import { relayTo } from './relayed-calls.ts';
import type { RemoteEngine } from './remote-engine.ts';

export interface AnswersOfEngines {
  /** `isRouter`: a router of this process answered. */
  readonly parts: { readonly engine: string; readonly isRouter: boolean; readonly json: Uint8Array }[];
  /** Engines that could not be asked, or did not answer. */
  readonly missing: { readonly engine: string; readonly reason: string }[];
}

/** A person waits. */
const ASK_MS_MAX = 2_000;
/** The engine has answered: it has nothing to add. */
const NOTHING = /"code":"(?:NOT_FOUND|memory_exporter_not_enabled)"/;

/** `undefined`: there are none. */
export function askAll(
  context: RouterContext,
  engines: readonly RemoteEngine[],
  functionId: string,
  payload: Payload | undefined,
): Promise<AnswersOfEngines> | undefined {
  return engines.length === 0 ? undefined : askEngines(context, engines, functionId, payload);
}

/** The payload is JSON, and valid until this returns. */
async function askEngines(
  context: RouterContext,
  engines: readonly RemoteEngine[],
  functionId: string,
  payload: Payload | undefined,
): Promise<AnswersOfEngines> {
  const found: AnswersOfEngines = { parts: [], missing: [] };
  const asked = engines.map(async (engine) => {
    const { result, error } = await askEngine(context, engine, functionId, payload);
    const text = error?.asText();
    const { shownId, isRouter } = engine;
    if (result !== undefined) found.parts.push({ engine: shownId, isRouter, json: result });
    else if (text !== undefined && !NOTHING.test(text)) {
      found.missing.push({ engine: shownId, reason: errorLine(text) });
    }
  });
  await Promise.all(asked);
  return found;
}

/** The value of a result: any engine of a neighbouring version may have made it. */
export function parseAnswer(json: Uint8Array): unknown {
  return parseRawJson(asRawJson(bytesToByteString(json)));
}

/** The result as JSON, or the error. */
export function askEngine(
  context: RouterContext,
  engine: RemoteEngine,
  functionId: string,
  payload: Payload | undefined,
  timeoutMs = ASK_MS_MAX,
): Promise<{ readonly result?: Uint8Array | undefined; readonly error?: Payload | undefined }> {
  return new Promise((resolve) => {
    const settle = ({ result, error }: Outcome): void => {
      // Payloads are valid until this returns.
      const json = result?.asJsonBytes();
      resolve({ result: json && new Uint8Array(json), error: error?.kept() });
    };
    relayTo(context, functionId, engine, {
      ...{ functionId, data: payload, metadata: undefined, traceparent: undefined, baggage: undefined, depth: 0 },
      ...{ timeoutMs, from: undefined, rights: undefined, ref: '', trigger: undefined, isInternal: true },
      caller: { settle },
    });
  });
}
