// Plain JSON Schema as a check: draft 2020-12, and from draft 07 what differs only in spelling. A schema is compiled
// once, when its function is registered; whatever it says that we could not keep is refused then, never skipped in
// silence. Formats are annotations, as the specification has it.

import { isRecord } from '../json/record.ts';
import { arrayKeywords, objectKeywords } from './containers.ts';
import { type Check, type CompileInner, passes, type Run, refuseSchema, report, type SchemaIssue } from './run.ts';
import { scalarKeywords } from './scalars.ts';

/**
 * Turns a schema into a check that lists what is wrong with a value; an empty list is a pass. Throws a `SchemaError`
 * for a schema that is wrong or that cannot be kept.
 */
export function compileJsonSchema(schema: unknown): (value: unknown) => readonly SchemaIssue[] {
  const check = new Compiler(schema).compile(schema, '#');
  return (value) => {
    const run: Run = { path: [], issues: [], refs: 0 };
    check(value, run);
    return run.issues;
  };
}

class Compiler {
  readonly #root: unknown;
  /** By reference: a schema that refers to itself must find its own check, not compile for ever. */
  readonly #referred = new Map<string, { check: Check }>();

  constructor(root: unknown) {
    this.#root = root;
  }

  readonly compile: CompileInner = (schema, where) => {
    if (schema === true) return pass;
    if (schema === false) return (_value, run) => report(run, 'must not be present');
    if (!isRecord(schema)) return refuseSchema(where, `is ${JSON.stringify(schema)}, expected an object or a boolean`);
    for (const keyword of KEYWORDS_NOT_KEPT) {
      if (keyword in schema) refuseSchema(where, `keyword '${keyword}' is not supported`);
    }
    const checks = [
      ...this.#reference(schema, where),
      ...scalarKeywords(schema, where),
      ...objectKeywords(schema, where, this.compile),
      ...arrayKeywords(schema, where, this.compile),
      ...this.#combinations(schema, where),
    ];
    const [only] = checks;
    if (only !== undefined && checks.length === 1) return only;
    return (value, run) => {
      for (const check of checks) check(value, run);
    };
  };

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
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
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
        if (!any.some((check) => passes(check, value, run))) report(run, 'must match at least one of the alternatives');
      });
    }
    const one = this.#compileList(schema, 'oneOf', where);
    if (one !== undefined) {
      checks.push((value, run) => {
        const matched = one.filter((check) => passes(check, value, run)).length;
        if (matched !== 1) report(run, `must match exactly one of the alternatives, matches ${matched}`);
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

/** Keywords that restrict a value and that we do not evaluate. */
const KEYWORDS_NOT_KEPT = ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'];
/** Ends schemas that refer to themselves without going deeper into the value. Wire JSON is 128 deep at most. */
const REFS_MAX = 512;

const pass: Check = () => {};
