// Keys for parts of a text. The only identity of a part is its position.

export function keyed<T>(items: readonly T[]): { readonly key: string; readonly item: T }[] {
  return items.map((item, at) => ({ key: String(at), item }));
}
