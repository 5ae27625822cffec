// Small shapes that several routes use.

/** What a JSON value is, as tables show it. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface ModuleRef {
  id: string;
  name: string;
}
