// Checks values against schemas of a function (SDK-2). A schema becomes one check when its function is registered.

import { compileJsonSchema } from './json-schema.ts';
import { isStandardSchema, type Schema } from './schema.ts';
import type { StandardIssue, StandardResult } from './standard-schema.ts';

/** Returns the value to continue with, or its issues. A Standard Schema may return a promise. */
export type ValueCheck = (value: unknown) => StandardResult<unknown> | PromiseLike<StandardResult<unknown>>;

export function compileCheck(schema: Schema): ValueCheck {
  if (isStandardSchema(schema)) {
    const { '~standard': standard } = schema;
    return (value) => standard.validate(value);
  }
  const check = compileJsonSchema(schema);
  return (value) => {
    const issues = check(value);
    return issues.length === 0 ? { value } : { issues };
  };
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
