// Calls functions of the engine by their id. The console reaches other modules only this way.

import type { BuiltinAnswers } from '../../../console/api/builtin-answers.ts';
import type { MissingModule } from '../../../console/api/envelope.ts';
import { answerChecks } from '../../../generated/console-answers.ts';
import {
  bytesToByteString,
  parseRawJson,
  RAW_NULL,
  type RawJson,
  rawJson,
} from '../../../protocol/json/byte-string.ts';
import { Payload } from '../../../protocol/payload/payload.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { TelemetryAnswers } from '../../../telemetry/functions/definition.ts';
import { type ApiFailure, failure, failureOfBody, missingModule } from './failure.ts';

/** The timeout of administrative queries, which may scan large stores. */
const TIMEOUT_MS = 60_000;

/** What the functions answer, by their id. */
export type Answers = BuiltinAnswers & TelemetryAnswers;

type Checks = { readonly [Id in keyof typeof answerChecks]: (value: unknown) => value is Answers[Id] };
const CHECKS: Checks = answerChecks;

/** The answer in a text that also has values to be copied unread. */
export function answerIn<Id extends keyof Checks>(functionId: Id, text: RawJson): Answers[Id] {
  const value: unknown = parseRawJson(text);
  const isAnswer: Checks[Id] = CHECKS[functionId];
  if (isAnswer(value)) return value;
  throw new Error(`${functionId} answered in a shape that the console does not know`);
}

export class BuiltIns {
  readonly #router: RouterPort;

  constructor(router: RouterPort) {
    this.#router = router;
  }

  has(functionId: string): boolean {
    return this.#router.functionEntry(functionId)?.kind === 'builtin';
  }

  /**
   * Returns the result as text. Rejects with an `ApiFailure`; for a function that no module has, it says what to add.
   */
  text(functionId: string, payload: unknown): Promise<RawJson> {
    return this.ofText(functionId, rawJson(payload));
  }

  /** The same with a payload that is already text. */
  ofText(functionId: string, payload: RawJson): Promise<RawJson> {
    if (!this.has(functionId)) return Promise.reject(missingOf(functionId));
    return new Promise((resolve, reject) => {
      const call = { functionId, payload: Payload.ofText(payload), depth: 0, timeoutMs: TIMEOUT_MS, isInternal: true };
      this.#router.call(call, ({ result, error }) => {
        if (error !== undefined)
          return reject(asMissingSetting(failureOfBody(parseRawJson(error.asText() ?? RAW_NULL))));
        if (result === undefined) return resolve(RAW_NULL);
        const text = result.asText();
        if (text === undefined) reject(failure('RESULT_TOO_LARGE', `The result of ${functionId} cannot be read`));
        else resolve(text);
      });
    });
  }

  async value(functionId: string, payload: unknown): Promise<unknown> {
    return parseRawJson(await this.text(functionId, payload));
  }

  /** Returns the result, in the type that its maker gives it. */
  async ask<Id extends keyof Checks>(functionId: Id, payload: unknown): Promise<Answers[Id]> {
    return answerIn(functionId, await this.text(functionId, payload));
  }

  /** The same with a payload that is already text. */
  async askOfText<Id extends keyof Checks>(functionId: Id, payload: RawJson): Promise<Answers[Id]> {
    return answerIn(functionId, await this.ofText(functionId, payload));
  }
}

export function rawOfBytes(bytes: Uint8Array): RawJson {
  return bytesToByteString(bytes) as RawJson;
}

/** What the user has to add so that the function exists (EMP-2). */
function missingOf(functionId: string) {
  const family = Object.keys(MODULES).find((prefix) => functionId.startsWith(prefix));
  const missing = family === undefined ? undefined : MODULES[family];
  return missing === undefined
    ? failure('NOT_FOUND', `This engine has no function ${functionId}`)
    : missingModule(missing);
}

/** A module that is loaded but switched off is missing too (EMP-2). */
function asMissingSetting(failed: ApiFailure): ApiFailure {
  if (failed.error.code !== 'memory_exporter_not_enabled') return failed;
  return missingSetting('exporter: memory', failed.message);
}

/** `svc-observability` is loaded but keeps no spans. */
export function missingSetting(setting: string, message: string): ApiFailure {
  return failure('MODULE_MISSING', message, { module: setting, snippet: OBSERVABILITY.snippet });
}

function entry(module: string, config = ''): MissingModule {
  return { module, snippet: `workers:\n  - name: ${module}\n${config}`, command: `svc worker add ${module}` };
}

const OBSERVABILITY = entry(
  'svc-observability',
  '    config:\n      enabled: true\n      exporter: memory\n      logs_enabled: true\n      metrics_enabled: true\n',
);
const QUEUE = entry('svc-queue');

export const MODULES: Readonly<Record<string, MissingModule>> = {
  'state::': entry('svc-state'),
  'stream::': entry('svc-stream'),
  'svc::queue::': QUEUE,
  'svc::durable::': QUEUE,
  'engine::queue::': QUEUE,
  'engine::traces::': OBSERVABILITY,
  'engine::logs::': OBSERVABILITY,
  'engine::metrics::': OBSERVABILITY,
  'engine::rollups::': OBSERVABILITY,
  'engine::alerts::': OBSERVABILITY,
  'engine::sampling::': OBSERVABILITY,
  http: entry('svc-http'),
  cron: entry('svc-cron'),
  event: entry('svc-pubsub'),
};
