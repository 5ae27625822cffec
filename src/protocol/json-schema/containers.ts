// The keywords of JSON Schema for objects and arrays. A keyword ignores values of other types.

import { isRecord } from '../json/record.ts';
import {
  type Check,
  type CompileInner,
  compileExpression,
  hasProperty,
  isSameJson,
  type Keywords,
  numberAt,
  passes,
  type Run,
  refuseSchema,
  report,
  within,
} from './run.ts';

export function objectKeywords(schema: Keywords, where: string, compile: CompileInner): Check[] {
  const checks: Check[] = [];
  const { required, propertyNames, dependentRequired, dependentSchemas } = schema;
  for (const name of namesOf(required, where, 'required')) {
    checks.push((value, run) => {
      if (isRecord(value) && !hasProperty(value, name)) reportAt(run, name, 'is missing');
    });
  }
  const sized = (count: number, holds: (size: number) => boolean, wanted: string): void => {
    checks.push((value, run) => {
      if (isRecord(value) && !holds(Object.keys(value).length)) report(run, `must have ${wanted} ${count} properties`);
    });
  };
  const fewest = numberAt(schema, 'minProperties', where);
  if (fewest !== undefined) sized(fewest, (size) => size >= fewest, 'at least');
  const most = numberAt(schema, 'maxProperties', where);
  if (most !== undefined) sized(most, (size) => size <= most, 'at most');
  if (propertyNames !== undefined) {
    const checkName = compile(propertyNames, `${where}/propertyNames`);
    checks.push((value, run) => {
      if (isRecord(value)) for (const name of Object.keys(value)) within(run, name, name, checkName);
    });
  }
  const needs = (name: string, needed: unknown, keyword: string): void => {
    for (const other of namesOf(needed, where, keyword)) {
      checks.push((value, run) => {
        if (isRecord(value) && hasProperty(value, name) && !hasProperty(value, other)) {
          reportAt(run, other, `is missing, '${name}' needs it`);
        }
      });
    }
  };
  const follows = (name: string, inner: unknown, keyword: string): void => {
    const check = compile(inner, `${where}/${keyword}/${name}`);
    checks.push((value, run) => {
      if (isRecord(value) && hasProperty(value, name)) check(value, run);
    });
  };
  for (const [name, needed] of entriesOf(dependentRequired, where, 'dependentRequired')) {
    needs(name, needed, 'dependentRequired');
  }
  for (const [name, inner] of entriesOf(dependentSchemas, where, 'dependentSchemas')) {
    follows(name, inner, 'dependentSchemas');
  }
  // Draft 07 has one keyword for both.
  for (const [name, entry] of entriesOf(schema.dependencies, where, 'dependencies')) {
    (Array.isArray(entry) ? needs : follows)(name, entry, 'dependencies');
  }
  return [...checks, ...propertyKeywords(schema, where, compile)];
}

export function arrayKeywords(schema: Keywords, where: string, compile: CompileInner): Check[] {
  const checks: Check[] = [];
  // Draft 07 writes a list under `items` and the rest under `additionalItems`.
  const isOldForm = Array.isArray(schema.items);
  const prefix: unknown = isOldForm ? schema.items : schema.prefixItems;
  const rest = isOldForm ? schema.additionalItems : schema.items;
  if (prefix !== undefined || rest !== undefined) {
    if (prefix !== undefined && !Array.isArray(prefix)) refuseSchema(where, 'prefixItems is not a list of schemas');
    const first = (Array.isArray(prefix) ? prefix : []).map((inner: unknown, at) =>
      compile(inner, `${where}/items/${at}`),
    );
    const others = compile(rest ?? true, `${where}/items`);
    checks.push((value, run) => {
      if (!Array.isArray(value)) return;
      for (let at = 0; at < value.length; at++) within(run, at, value[at], first[at] ?? others);
    });
  }
  const fewest = numberAt(schema, 'minItems', where);
  const most = numberAt(schema, 'maxItems', where);
  if (fewest !== undefined || most !== undefined) {
    checks.push((value, run) => {
      if (!Array.isArray(value)) return;
      if (fewest !== undefined && value.length < fewest) report(run, `must have at least ${fewest} items`);
      if (most !== undefined && value.length > most) report(run, `must have at most ${most} items`);
    });
  }
  if (schema.uniqueItems === true) {
    checks.push((value, run) => {
      if (Array.isArray(value) && hasTwins(value)) report(run, 'must not have two equal items');
    });
  }
  if (schema.contains !== undefined) checks.push(checkContains(schema, where, compile));
  return checks;
}

function propertyKeywords(schema: Keywords, where: string, compile: CompileInner): Check[] {
  const { additionalProperties } = schema;
  const named = new Map<string, Check>();
  for (const [name, inner] of entriesOf(schema.properties, where, 'properties')) {
    named.set(name, compile(inner, `${where}/properties/${name}`));
  }
  const patterned: { pattern: RegExp; check: Check }[] = [];
  for (const [source, inner] of entriesOf(schema.patternProperties, where, 'patternProperties')) {
    patterned.push({
      pattern: compileExpression(source, where),
      check: compile(inner, `${where}/patternProperties/${source}`),
    });
  }
  const others =
    additionalProperties === undefined ? undefined : compile(additionalProperties, `${where}/additionalProperties`);
  if (named.size === 0 && patterned.length === 0 && others === undefined) return [];
  if (patterned.length === 0 && others === undefined) {
    return [
      (value, run) => {
        if (!isRecord(value)) return;
        for (const [name, check] of named) if (hasProperty(value, name)) within(run, name, value[name], check);
      },
    ];
  }
  return [
    (value, run) => {
      if (!isRecord(value)) return;
      for (const [name, inner] of Object.entries(value)) {
        if (inner === undefined) continue;
        const check = named.get(name);
        const matching = patterned.filter(({ pattern }) => pattern.test(name));
        if (check !== undefined) within(run, name, inner, check);
        for (const match of matching) within(run, name, inner, match.check);
        if (check === undefined && matching.length === 0 && others !== undefined) within(run, name, inner, others);
      }
    },
  ];
}

function checkContains(schema: Keywords, where: string, compile: CompileInner): Check {
  const check = compile(schema.contains, `${where}/contains`);
  const fewest = numberAt(schema, 'minContains', where) ?? 1;
  const most = numberAt(schema, 'maxContains', where) ?? Number.POSITIVE_INFINITY;
  return (value, run) => {
    if (!Array.isArray(value)) return;
    const found = value.filter((item: unknown) => passes(check, item, run)).length;
    if (found < fewest) report(run, `must contain at least ${fewest} matching items, has ${found}`);
    if (found > most) report(run, `must contain at most ${most} matching items, has ${found}`);
  };
}

function namesOf(value: unknown, where: string, keyword: string): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  return refuseSchema(where, `${keyword} is not a list of property names`);
}

function entriesOf(value: unknown, where: string, keyword: string): [string, unknown][] {
  if (value === undefined) return [];
  return isRecord(value) ? Object.entries(value) : refuseSchema(where, `${keyword} is not an object`);
}

function reportAt(run: Run, key: PropertyKey, message: string): void {
  within(run, key, undefined, (_value, inner) => report(inner, message));
}

function hasTwins(items: readonly unknown[]): boolean {
  return items.some((item, at) => {
    for (let earlier = 0; earlier < at; earlier++) if (isSameJson(item, items[earlier])) return true;
    return false;
  });
}
