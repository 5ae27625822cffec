// The part of a JSON Schema that applies to one place in a value.

export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly discriminator?: { readonly propertyName?: string };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
}

/** `*` stands for any index of an array. */
export function schemaAt(root: SchemaNode, path: readonly string[]): SchemaNode | undefined {
  let at: SchemaNode | undefined = resolveRef(root, root);
  for (const name of path) {
    if (at === undefined) return undefined;
    at = resolveRef(root, stepInto(at, name));
  }
  return at;
}

/** Resolves references inside the document only: nothing is fetched. */
export function resolveRef(root: SchemaNode, schema: SchemaNode | undefined): SchemaNode | undefined {
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(schema?.$ref ?? '')?.[1];
  return name === undefined ? schema : root.$defs?.[name.replaceAll('~1', '/').replaceAll('~0', '~')];
}

function stepInto(schema: SchemaNode, name: string): SchemaNode | undefined {
  if (name === '*') return schema.items;
  const own = schema.properties?.[name];
  if (own !== undefined) return own;
  for (const branch of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) {
    const found = stepInto(branch, name);
    if (found !== undefined) return found;
  }
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

const SAMPLE_DEPTH_MAX = 6;

/** A first value: the default of the schema, otherwise the simplest value of its type. */
export function sampleOf(root: SchemaNode, schema: SchemaNode = root, depth = 0): unknown {
  const at = resolveRef(root, schema) ?? {};
  if (at.default !== undefined) return at.default;
  if (at.const !== undefined) return at.const;
  if (at.enum !== undefined && at.enum.length > 0) return at.enum[0];
  const [branch] = at.oneOf ?? at.anyOf ?? [];
  if (branch !== undefined && depth < SAMPLE_DEPTH_MAX) return sampleOf(root, branch, depth + 1);
  switch (typeOf(at)) {
    case 'object':
      return sampleObject(root, at, depth);
    case 'array':
      return [];
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return at.minimum ?? 0;
    case 'boolean':
      return false;
    default:
      return null;
  }
}

/** The first of several types. A schema with properties is an object even without a type. */
export function typeOf(schema: SchemaNode): string | undefined {
  const [type] = [schema.type ?? []].flat();
  return type ?? (schema.properties === undefined ? undefined : 'object');
}

function sampleObject(root: SchemaNode, at: SchemaNode, depth: number): Record<string, unknown> {
  if (depth >= SAMPLE_DEPTH_MAX) return {};
  const wanted = Object.entries(at.properties ?? {}).filter(
    ([name, { default: given }]) => given !== undefined || at.required?.includes(name) === true,
  );
  return Object.fromEntries(wanted.map(([name, below]) => [name, sampleOf(root, below, depth + 1)]));
}
