// A JSON schema as a readable list of parameters, and as an example call. Nothing is validated: parts of a schema that
// this file does not understand are left out.

import { isRecord, type JsonRecord, textIn, textsIn } from '../../text/records.ts';

export interface Parameter {
  /** As written in a key=value pair: `address.city`, `tags[]`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Description, default, allowed values. */
  readonly text: string;
}

const NESTING_MAX = 3;

export function parametersOf(schema: unknown): Parameter[] {
  return parametersBelow(schema, '', true, 0);
}

/** The pairs of a call with every required parameter: `sku=… qty:=0`. */
export function examplePairs(parameters: readonly Parameter[]): string[] {
  return parameters.filter((parameter) => parameter.isRequired).map(examplePair);
}

function parametersBelow(schema: unknown, prefix: string, aboveRequired: boolean, depth: number): Parameter[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = textsIn(schema, 'required');
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    if (!isRecord(property)) return [];
    const isRequired = aboveRequired && required.includes(key);
    const inner = depth + 1 < NESTING_MAX ? parametersBelow(property, `${prefix}${key}.`, isRequired, depth + 1) : [];
    return inner.length > 0 ? inner : [describe(`${prefix}${key}`, property, isRequired)];
  });
}

function describe(name: string, property: JsonRecord, isRequired: boolean): Parameter {
  const type = typeWord(property);
  const values = Array.isArray(property.enum) ? `One of ${property.enum.map(jsonText).join(', ')}.` : '';
  const fallback = property.default === undefined ? '' : `Default ${jsonText(property.default)}.`;
  const text = [textIn(property, 'description'), values, fallback].filter((part) => part !== '').join(' ');
  return { name: type === 'list of string' ? `${name}[]` : name, type, isRequired, text };
}

function typeWord(property: JsonRecord): string {
  const type = Array.isArray(property.type) ? textsIn(property, 'type').join(' or ') : textIn(property, 'type');
  if (type !== 'array') return type === '' ? 'any' : type;
  const item = isRecord(property.items) ? textIn(property.items, 'type') : '';
  return item === '' ? 'list' : `list of ${item}`;
}

function examplePair({ name, type }: Parameter): string {
  if (type === 'string' || type === 'list of string') return `${name}=text`;
  if (type === 'number' || type === 'integer') return `${name}:=1`;
  if (type === 'boolean') return `${name}:=true`;
  return type.startsWith('list') ? `${name}:=[]` : `${name}:={}`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}
