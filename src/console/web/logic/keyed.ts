// Keys for parts of a text: parts have no identity but their place.

export function keyed<T>(items: readonly T[]): { readonly key: string; readonly item: T }[] {
  return items.map((item, at) => ({ key: String(at), item }));
}
