// What the engines of a cluster have to have in common, and what they should. Each engine writes its own into its key.

export interface SharedConfiguration {
  /** Where each module keeps what all engines share, by the name of the module. */
  readonly stores: Readonly<Record<string, string>>;
  readonly compat: string;
  /** Settings whose difference is confusing, and breaks nothing; by name. */
  readonly rules: Readonly<Record<string, string>>;
}

export interface Differences {
  /** The engines would contradict each other. */
  readonly refused: readonly string[];
  readonly odd: readonly string[];
}

/** In words, from the view of the engine that `own` belongs to. */
export function differencesOf(own: SharedConfiguration, other: SharedConfiguration): Differences {
  const compat = own.compat === other.compat ? [] : [`compat is ${own.compat} here and ${other.compat} there`];
  const stores = Object.keys(own.stores)
    .filter((name) => name in other.stores && own.stores[name] !== other.stores[name])
    .map((name) => `${name} keeps its data in ${own.stores[name]} here and in ${other.stores[name]} there`);
  const names = new Set([...Object.keys(own.rules), ...Object.keys(other.rules)]);
  const odd = [...names].filter((name) => own.rules[name] !== other.rules[name]).sort();
  return { refused: [...compat, ...stores], odd };
}
