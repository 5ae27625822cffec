// Plain JSON Schema as a check: draft 2020-12, and from draft 07 what differs only in spelling. A schema is compiled
// once. A keyword that restricts a value and that is not supported is refused or reported then, never skipped silently.

import { isRecord } from '../json/record.ts';
import { arrayKeywords, objectKeywords } from './containers.ts';
import {
  type Check,
  type CompileInner,
  type CompileOptions,
  issuesOf,
  type Keywords,
  passes,
  type Run,
  refuseSchema,
  report,
  SchemaError,
  type SchemaIssue,
} from './run.ts';
import { scalarKeywords } from './scalars.ts';

/**
 * Turns a schema into a check that lists what is wrong with a value; an empty list is a pass. Throws a `SchemaError`
 * for a schema that is wrong or not supported, unless the options take those.
 */
export function compileJsonSchema(
  schema: unknown,
  options: CompileOptions = {},
): (value: unknown) => readonly SchemaIssue[] {
  const check = new Compiler(schema, options).compile(schema, '#');
  return (value) => {
    const run: Run = { path: [], issues: [], refs: 0 };
    check(value, run);
    return run.issues;
  };
}

class Compiler {
  readonly #root: unknown;
  readonly #options: CompileOptions;
  /** By reference: a schema that refers to itself must find its own check, not compile for ever. */
  readonly #referred = new Map<string, { check: Check }>();

  constructor(root: unknown, options: CompileOptions) {
    this.#root = root;
    this.#options = options;
  }

  readonly compile: CompileInner = (schema, where) => {
    if (schema === true) return pass;
    if (schema === false) return (_value, run) => report(run, 'must not be present');
    if (!isRecord(schema)) {
      this.#attempt(() => refuseSchema(where, `is ${JSON.stringify(schema)}, expected an object or a boolean`));
      return pass;
    }
    const checks = [
      ...KEYWORDS_NOT_KEPT.flatMap((keyword) => this.#attempt(() => refuseKeyword(schema, keyword, where))),
      ...this.#attempt(() => this.#reference(schema, where)),
      ...this.#attempt(() => scalarKeywords(schema, where, this.#options.formats)),
      ...this.#attempt(() => objectKeywords(schema, where, this.compile)),
      ...this.#attempt(() => arrayKeywords(schema, where, this.compile)),
      ...this.#attempt(() => this.#combinations(schema, where)),
    ];
    const [only] = checks;
    if (only !== undefined && checks.length === 1) return only;
    return (value, run) => {
      for (const check of checks) check(value, run);
    };
  };

  /** A part that cannot be checked is refused, or reported and left out. */
  #attempt(read: () => Check[]): Check[] {
    try {
      return read();
    } catch (error) {
      const { onUnchecked } = this.#options;
      if (!(error instanceof SchemaError) || onUnchecked === undefined) throw error;
      onUnchecked(error);
      return [];
    }
  }

  #reference(schema: Record<string, unknown>, where: string): Check[] {
    const { $ref } = schema;
    if ($ref === undefined) return [];
    if (typeof $ref !== 'string') return refuseSchema(where, `$ref is ${JSON.stringify($ref)}, expected text`);
    let referred = this.#referred.get($ref);
    if (referred === undefined) {
      referred = { check: pass };
      this.#referred.set($ref, referred);
      referred.check = this.compile(this.#resolve($ref, where), $ref);
    }
    const target = referred;
    return [
      (value, run) => {
        if (run.refs >= REFS_MAX) return report(run, `is nested too deeply for ${$ref} (${REFS_MAX} references)`);
        run.refs++;
        target.check(value, run);
        run.refs--;
      },
    ];
  }

  #resolve(reference: string, where: string): unknown {
    if (reference !== '#' && !reference.startsWith('#/')) {
      return refuseSchema(where, `$ref '${reference}' leads outside, expected '#' or '#/…'`);
    }
    let target: unknown = this.#root;
    for (const step of reference.split('/').slice(1)) {
      const key = keyOf(step);
      const inner: unknown = typeof target === 'object' && target !== null ? Reflect.get(target, key) : undefined;
      if (inner === undefined) return refuseSchema(where, `$ref '${reference}' leads nowhere`);
      target = inner;
    }
    return target;
  }

  #combinations(schema: Record<string, unknown>, where: string): Check[] {
    const checks: Check[] = [];
    const { not, if: condition } = schema;
    const all = this.#compileList(schema, 'allOf', where);
    if (all !== undefined) checks.push(...all);
    const any = this.#compileList(schema, 'anyOf', where);
    if (any !== undefined) {
      checks.push((value, run) => {
        const failed: (readonly SchemaIssue[])[] = [];
        for (const check of any) {
          const issues = issuesOf(check, value, run);
          if (issues.length === 0) return;
          failed.push(issues);
        }
        report(run, 'must match at least one of the alternatives', failed);
      });
    }
    const one = this.#compileList(schema, 'oneOf', where);
    if (one !== undefined) {
      checks.push((value, run) => {
        const failed = one.map((check) => issuesOf(check, value, run)).filter((issues) => issues.length > 0);
        const matched = one.length - failed.length;
        if (matched === 1) return;
        const message = `must match exactly one of the alternatives, matches ${matched}`;
        report(run, message, matched === 0 ? failed : undefined);
      });
    }
    if (not !== undefined) {
      const excluded = this.compile(not, `${where}/not`);
      checks.push((value, run) => {
        if (passes(excluded, value, run)) report(run, 'must not match the excluded schema');
      });
    }
    if (condition !== undefined) {
      const test = this.compile(condition, `${where}/if`);
      const yes = this.compile(schema.then ?? true, `${where}/then`);
      const no = this.compile(schema.else ?? true, `${where}/else`);
      checks.push((value, run) => (passes(test, value, run) ? yes : no)(value, run));
    }
    return checks;
  }

  #compileList(schema: Record<string, unknown>, keyword: string, where: string): Check[] | undefined {
    const list = schema[keyword];
    if (list === undefined) return undefined;
    if (!Array.isArray(list)) return refuseSchema(where, `${keyword} is not a list of schemas`);
    return list.map((inner: unknown, index) => this.compile(inner, `${where}/${keyword}/${index}`));
  }
}

function refuseKeyword(schema: Keywords, keyword: string, where: string): Check[] {
  return keyword in schema ? refuseSchema(where, `keyword '${keyword}' is not supported`) : [];
}

/** A step of a JSON pointer in a fragment. A step that is not percent-encoded correctly stays as it is. */
function keyOf(step: string): string {
  return decodedOr(step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function decodedOr(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Keywords that restrict a value and that we do not evaluate. */
const KEYWORDS_NOT_KEPT = ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'];
/** Ends schemas that refer to themselves without going deeper into the value. Wire JSON is 128 deep at most. */
const REFS_MAX = 512;

const pass: Check = () => {};
