// A handler with the schemas of its definition (SDK-2): payloads that violate the input schema never reach it, results
// that violate the output schema are reported or refused. A schema becomes one check when its function is registered.

import { compileJsonSchema } from '../../protocol/json-schema/compile.ts';
import { SchemaError } from '../../protocol/json-schema/run.ts';
import { SvcError } from '../calls/errors.ts';
import type { Run } from '../calls/invocation.ts';
import { isStandardSchema, type JsonSchema, type Schema, type StandardIssue, type StandardResult } from './schema.ts';

export interface HandlerSchemas {
  readonly functionId: string;
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
  /** Called with the problem of a result that is returned all the same; absent when such a call fails. */
  readonly warn: ((problem: string) => void) | undefined;
}

export function checkHandler(run: Run, schemas: HandlerSchemas): Run {
  const input = compile(schemas.input);
  const output = compile(schemas.output);
  const answered: Run =
    output === undefined
      ? run
      : (payload, invocation) =>
          chain(run(payload, invocation), (result) =>
            chain(output(result), (verdict) => judgeResult(result, verdict, schemas)),
          );
  if (input === undefined) return answered;
  return (payload, invocation) =>
    chain(input(payload), (verdict) => {
      if (verdict.issues === undefined) return answered(verdict.value, invocation);
      const { functionId } = schemas;
      const message = `${functionId}: the payload is invalid: ${describeIssues(verdict.issues)}`;
      throw new SvcError('BAD_REQUEST', message, { function_id: functionId });
    });
}

function compile(schema: Schema | undefined): ValueCheck | undefined {
  return schema === undefined ? undefined : compileCheck(schema);
}

function judgeResult(result: unknown, verdict: StandardResult<unknown>, { functionId, warn }: HandlerSchemas): unknown {
  if (verdict.issues === undefined) return verdict.value;
  const problem = `${functionId}: the result is invalid: ${describeIssues(verdict.issues)}`;
  if (warn === undefined) throw new SvcError('invocation_failed', problem, { function_id: functionId });
  warn(problem);
  return result;
}

/** Continues at once if there is nothing to await: most schemas and many handlers return directly. */
function chain<Value, Next>(value: Value | PromiseLike<Value>, next: (value: Value) => Next): unknown {
  return isThenable(value) ? value.then(next) : next(value);
}

function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Returns the value to continue with, or its issues. A Standard Schema may return a promise. */
export type ValueCheck = (value: unknown) => StandardResult<unknown> | PromiseLike<StandardResult<unknown>>;

export function compileCheck(schema: Schema): ValueCheck {
  if (isStandardSchema(schema)) {
    const { '~standard': standard } = schema;
    return (value) => standard.validate(value);
  }
  const check = compileOrRefuse(schema);
  return (value) => {
    const issues = check(value);
    return issues.length === 0 ? { value } : { issues };
  };
}

function compileOrRefuse(schema: JsonSchema): ReturnType<typeof compileJsonSchema> {
  try {
    return compileJsonSchema(schema);
  } catch (error) {
    throw error instanceof SchemaError ? new SvcError('INVALID_ARGUMENTS', error.message) : error;
  }
}

/** The issues in one line: the first ones with their places, and how many more there are. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const shown = issues.slice(0, ISSUES_SHOWN_MAX).map(({ path = [], message }) => {
    const steps = path.map((step) => String(typeof step === 'object' ? step.key : step));
    return steps.length === 0 ? message : `/${steps.join('/')} ${message}`;
  });
  const hidden = issues.length - shown.length;
  return shown.join('; ') + (hidden > 0 ? `; and ${hidden} more` : '');
}

const ISSUES_SHOWN_MAX = 5;
