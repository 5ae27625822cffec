// The keywords of JSON Schema for scalars: type, const, enum, limits of numbers and strings, formats where the caller
// has tests for them. A keyword ignores values of other types.

import { isRecord } from '../json/record.ts';
import {
  type Check,
  type CompileOptions,
  compileExpression,
  isSameJson,
  type Keywords,
  numberAt,
  refuseSchema,
  report,
} from './run.ts';

export function scalarKeywords(schema: Keywords, where: string, formats: CompileOptions['formats']): Check[] {
  const checks: Check[] = [];
  const { type, const: constant, enum: values } = schema;
  if (type !== undefined) checks.push(checkType(type, where));
  if ('const' in schema) {
    checks.push((value, run) => {
      if (!isSameJson(value, constant)) report(run, `must be ${JSON.stringify(constant)}`);
    });
  }
  if (values !== undefined) {
    if (!Array.isArray(values)) refuseSchema(where, 'enum is not a list');
    const allowed: readonly unknown[] = values;
    checks.push((value, run) => {
      if (!allowed.some((one) => isSameJson(value, one))) {
        report(run, `must be one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}`);
      }
    });
  }
  checks.push(...numberKeywords(schema, where), ...stringKeywords(schema, where));
  const { format } = schema;
  const hasFormat = typeof format === 'string' ? formats?.get(format) : undefined;
  if (hasFormat !== undefined) {
    checks.push((value, run) => {
      if (typeof value === 'string' && !hasFormat(value)) report(run, `must have the format "${format}"`);
    });
  }
  return checks;
}

function numberKeywords(schema: Keywords, where: string): Check[] {
  const rules: [keyword: string, wanted: string, holds: (value: number, bound: number) => boolean][] = [
    ['minimum', 'at least', (value, bound) => value >= bound],
    ['maximum', 'at most', (value, bound) => value <= bound],
    ['exclusiveMinimum', 'more than', (value, bound) => value > bound],
    ['exclusiveMaximum', 'less than', (value, bound) => value < bound],
    ['multipleOf', 'a multiple of', isMultiple],
  ];
  return rules.flatMap(([keyword, wanted, holds]) => {
    const bound = numberAt(schema, keyword, where);
    if (bound === undefined) return [];
    const check: Check = (value, run) => {
      if (typeof value === 'number' && !holds(value, bound)) report(run, `must be ${wanted} ${bound}, is ${value}`);
    };
    return [check];
  });
}

function stringKeywords(schema: Keywords, where: string): Check[] {
  const checks: Check[] = [];
  const shortest = numberAt(schema, 'minLength', where);
  const longest = numberAt(schema, 'maxLength', where);
  if (shortest !== undefined || longest !== undefined) {
    checks.push((value, run) => {
      if (typeof value !== 'string') return;
      const length = codePoints(value);
      if (shortest !== undefined && length < shortest) report(run, `must have at least ${shortest} characters`);
      if (longest !== undefined && length > longest) report(run, `must have at most ${longest} characters`);
    });
  }
  const { pattern } = schema;
  if (pattern !== undefined) {
    const matcher = compileExpression(pattern, where);
    checks.push((value, run) => {
      if (typeof value === 'string' && !matcher.test(value)) report(run, `must match ${matcher.source}`);
    });
  }
  return checks;
}

function checkType(type: unknown, where: string): Check {
  const wanted: readonly unknown[] = Array.isArray(type) ? type : [type];
  const tests = wanted.map((one) => {
    const test = typeof one === 'string' ? TYPES.get(one) : undefined;
    return (
      test ?? refuseSchema(where, `type is ${JSON.stringify(one)}, expected one of ${[...TYPES.keys()].join(', ')}`)
    );
  });
  const [only] = tests;
  const text = `must be ${wanted.join(' or ')}`;
  const fits = only !== undefined && tests.length === 1 ? only : (value: unknown) => tests.some((test) => test(value));
  return (value, run) => {
    if (!fits(value)) report(run, `${text}, is ${kindOf(value)}`);
  };
}

const TYPES: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['null', (value: unknown) => value === null],
  ['boolean', (value: unknown) => typeof value === 'boolean'],
  ['object', isRecord],
  ['array', Array.isArray],
  ['number', (value: unknown) => typeof value === 'number'],
  ['integer', Number.isInteger],
  ['string', (value: unknown) => typeof value === 'string'],
]);

/** Divides instead of taking the remainder: 0.3 is a multiple of 0.1, but not by the remainder of a processor. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
