// One pass of a compiled JSON Schema over one value: the current path, the issues found, and their texts.

import { isRecord } from '../json/record.ts';

/** What is wrong with a value, and where: the steps from its root. */
export interface SchemaIssue {
  readonly message: string;
  readonly path: readonly PropertyKey[];
  /** Of a value that fits no alternative of `anyOf` or `oneOf`: the issues of each, in the order of the schema. */
  readonly alternatives?: readonly (readonly SchemaIssue[])[];
}

/** The schema itself is wrong, or says something that is not supported. */
export class SchemaError extends Error {}

export interface Run {
  /** From the root of the value to the part being checked. */
  readonly path: PropertyKey[];
  readonly issues: SchemaIssue[];
  /** Number of references being followed. */
  refs: number;
}

export type Check = (value: unknown, run: Run) => void;
/** Compiles a subschema; `where` names it in messages to the author. */
export type CompileInner = (schema: unknown, where: string) => Check;
export type Keywords = Readonly<Record<string, unknown>>;

/** How a schema is compiled. A schema of another program is checked as far as it can be. */
export interface CompileOptions {
  /** Tests of string formats by name. Without one, a format is an annotation, as the specification has it. */
  readonly formats?: ReadonlyMap<string, (text: string) => boolean>;
  /** Receives each part of the schema that is not checked. Without it, such a schema is refused. */
  readonly onUnchecked?: (problem: SchemaError) => void;
}

export function report(run: Run, message: string, alternatives?: SchemaIssue['alternatives']): void {
  const issue = { message, path: [...run.path] };
  run.issues.push(alternatives === undefined ? issue : { ...issue, alternatives });
}

/** Checks a part of the value, one step down. */
export function within(run: Run, key: PropertyKey, value: unknown, check: Check): void {
  run.path.push(key);
  check(value, run);
  run.path.pop();
}

/** The issues of a value that need not pass; adds none to the run. */
export function issuesOf(check: Check, value: unknown, run: Run): readonly SchemaIssue[] {
  const trial: Run = { path: run.path, issues: [], refs: run.refs };
  check(value, trial);
  return trial.issues;
}

export function passes(check: Check, value: unknown, run: Run): boolean {
  return issuesOf(check, value, run).length === 0;
}

/** Throws because the schema itself is wrong: its author gets the error when the function is registered. */
export function refuseSchema(where: string, problem: string): never {
  throw new SchemaError(`JSON Schema at ${where}: ${problem}`);
}

/** Whether JSON would carry the property: one that is undefined is not sent, so it counts as missing. */
export function hasProperty(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** The number of a keyword, if the schema has that keyword. */
export function numberAt(schema: Keywords, keyword: string, where: string): number | undefined {
  const value = schema[keyword];
  if (value === undefined || typeof value === 'number') return value;
  return refuseSchema(where, `${keyword} is ${JSON.stringify(value)}, expected a number`);
}

export function compileExpression(source: unknown, where: string): RegExp {
  try {
    return new RegExp(String(source), 'u');
  } catch (error) {
    return refuseSchema(where, error instanceof Error ? error.message : String(error));
  }
}

export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => isSameJson(item, b[at]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  );
}
