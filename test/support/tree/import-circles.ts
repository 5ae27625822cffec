// Circles in a graph of imports.

export interface Import {
  readonly target: string;
  /** It is gone when the types are gone. */
  readonly isType: boolean;
}

export type Imports = ReadonlyMap<string, readonly Import[]>;

/** The groups of files in which each one reaches every other, but for pairs of types inside one folder. */
export function circlesIn(imports: Imports): string[][] {
  return stronglyConnected(imports).filter((group) => !isPairOfTypes(group, imports));
}

function isPairOfTypes(group: readonly string[], imports: Imports): boolean {
  const folders = new Set(group.map((file) => file.slice(0, file.lastIndexOf('/'))));
  const inside = group.flatMap((file) => imports.get(file)?.filter(({ target }) => group.includes(target)) ?? []);
  return group.length === 2 && folders.size === 1 && inside.every(({ isType }) => isType);
}

/** Tarjan's algorithm. A file that imports itself is a group too. */
function stronglyConnected(imports: Imports): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const groups: string[][] = [];
  const lower = (file: string, value: number): void => {
    lowest.set(file, Math.min(lowest.get(file) ?? value, value));
  };
  const visit = (file: string): void => {
    const number = order.size;
    order.set(file, number);
    lower(file, number);
    open.push(file);
    for (const { target } of imports.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lower(file, lowest.get(target) ?? number);
    }
    if (lowest.get(file) !== number) return;
    const group = open.splice(open.indexOf(file));
    const importsItself = imports.get(file)?.some(({ target }) => target === file) === true;
    if (group.length > 1 || importsItself) groups.push(group.sort());
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return groups;
}
