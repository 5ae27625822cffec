import type { FieldsSchema } from './fields.ts';
import type { FieldProblem } from './fields-check.ts';

/** What the configuration must know of a module without loading any of its code. */
export interface ModuleDeclaration<C = unknown> {
  /** The name users read and write: `svc-worker-manager`. */
  readonly name: string;
  /** Short forms: `worker-manager`. */
  readonly aliases: readonly string[];
  /** Spellings of the class style: `modules::worker::WorkerModule`. */
  readonly classes: readonly string[];
  /** Whether several entries mean several instances. Otherwise the second entry is an error. */
  readonly repeatable: boolean;
  /** Whether it runs with its defaults when no entry names it. */
  readonly alwaysLoaded: boolean;
  /** For a module that runs by default: its configuration then, if an empty entry means something else. */
  readonly unaskedConfig?: C;
  /** Without `adapter`, which is declared separately. */
  readonly config: FieldsSchema<C>;
  /** For a module that runs by default: whether an entry replaces that instance. Absent: every entry does. */
  standsForDefault?(config: C): boolean;
  /** The first is the default. Empty: the module takes no adapter. */
  readonly adapters: readonly AdapterDeclaration[];
  /** Settings that are valid key by key and invalid together, by the path below `config`. */
  contradictions?(config: C, adapter?: ChosenSettings): readonly FieldProblem[];
}

/** The adapter that an entry chooses. */
export interface ChosenSettings {
  readonly name: string;
  readonly config: unknown;
}

export interface AdapterDeclaration<C = unknown> {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly classes: readonly string[];
  readonly config: FieldsSchema<C>;
  /** Settings that are valid key by key and invalid together. */
  contradictions?(config: C): readonly FieldProblem[];
}
