// Small shapes that several routes use.

/** The kind of a JSON value, as tables show it. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface ModuleRef {
  id: string;
  name: string;
}
