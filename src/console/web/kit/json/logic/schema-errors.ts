// The messages of a form (FUN-6): what a value violates, by its place, as the schema check of the SDK reports it. Of a
// `oneOf` or `anyOf` the form shows the messages of the alternative that the user has chosen. Where nothing can be
// chosen, the message names what the nearest alternative lacks.

import { compileJsonSchema } from '../../../../../protocol/json-schema/compile.ts';
import { FORMATS } from '../../../../../protocol/json-schema/formats.ts';
import type { SchemaIssue } from '../../../../../protocol/json-schema/run.ts';
import type { FormPath } from './schema-form.ts';

export interface FormCheck {
  /** The parts of the schema that are not checked here, in words. */
  readonly unchecked: readonly string[];
  readonly errorsOf: (value: unknown) => FormErrors;
}

/** Never throws: a schema may come from any worker, and its other parts still help. */
export function compileFormCheck(schema: unknown): FormCheck {
  const unchecked: string[] = [];
  const check = compileJsonSchema(schema, {
    formats: FORMATS,
    onUnchecked: ({ message }) => unchecked.push(message),
  });
  return { unchecked, errorsOf: (value) => new FormErrors(check(value)) };
}

export class FormErrors {
  /** By place. The first issue of a place is the most basic one, such as the type. */
  readonly #issues = new Map<string, SchemaIssue[]>();

  constructor(issues: readonly SchemaIssue[]) {
    for (const issue of issues) {
      const place = placeKey(issue.path);
      const known = this.#issues.get(place);
      if (known === undefined) this.#issues.set(place, [issue]);
      else known.push(issue);
    }
  }

  at(path: FormPath): string | undefined {
    const issue = this.#issues.get(placeKey(path))?.[0];
    return issue === undefined ? undefined : messageOf(issue);
  }

  /** The messages when the alternative with that index was chosen for the value at that place. */
  ofAlternative(path: FormPath, index: number): FormErrors {
    const failed = this.#issues.get(placeKey(path))?.find(({ alternatives }) => alternatives !== undefined);
    if (failed === undefined) return this;
    const others = [...this.#issues.values()].flat().filter((issue) => issue !== failed);
    return new FormErrors([...(failed.alternatives?.[index] ?? []), ...others]);
  }
}

export const NO_ERRORS = new FormErrors([]);

const ISSUES_SHOWN_MAX = 3;

function messageOf({ message, path, alternatives }: SchemaIssue): string {
  if (alternatives === undefined) return message;
  const nearest = nearestOf(alternatives, path.length).slice(0, ISSUES_SHOWN_MAX);
  const lacks = nearest.map((issue) => {
    const below = issue.path.slice(path.length).map(String).join('/');
    return below === '' ? messageOf(issue) : `/${below} ${messageOf(issue)}`;
  });
  return `${message}. Of the nearest: ${lacks.join('; ')}`;
}

/** A wrong value of the right kind is nearer than a value of another kind; then the number of issues decides. */
function nearestOf(alternatives: readonly (readonly SchemaIssue[])[], depth: number): readonly SchemaIssue[] {
  const ranked = alternatives.map((issues) => ({
    issues,
    isOtherKind: issues.some(({ path }) => path.length === depth),
  }));
  ranked.sort((a, b) => Number(a.isOtherKind) - Number(b.isOtherKind) || a.issues.length - b.issues.length);
  return ranked[0]?.issues ?? [];
}

function placeKey(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}
