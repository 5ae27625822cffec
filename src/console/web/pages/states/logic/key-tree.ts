// Keys as a tree by a separator (STA-2): folders of keys with the same beginning, leaves with the last part. Pure.

export type KeyLine<Row> =
  | {
      readonly kind: 'folder';
      /** The common beginning of its keys, with the separator at its end. */
      readonly path: string;
      readonly name: string;
      readonly depth: number;
      readonly count: number;
      readonly open: boolean;
    }
  | { readonly kind: 'key'; readonly row: Row; readonly name: string; readonly depth: number };

interface Folder<Row> {
  readonly folders: Map<string, Folder<Row>>;
  readonly rows: { readonly row: Row; readonly name: string }[];
  count: number;
}

/** Folders come before keys, both in the order of the input. */
export function keyTree<Row extends { readonly key: string }>(
  rows: readonly Row[],
  separator: string,
  opened: ReadonlySet<string>,
): KeyLine<Row>[] {
  const root = folder<Row>();
  for (const row of rows) {
    const parts = row.key.split(separator);
    const name = parts.pop() ?? '';
    let at = root;
    for (const part of parts) {
      const next = at.folders.get(part) ?? folder<Row>();
      at.folders.set(part, next);
      next.count++;
      at = next;
    }
    at.rows.push({ row, name });
  }
  const lines: KeyLine<Row>[] = [];
  const walk = (at: Folder<Row>, before: string, depth: number): void => {
    for (const [name, next] of at.folders) {
      const path = `${before}${name}${separator}`;
      const open = opened.has(path);
      lines.push({ kind: 'folder', path, name, depth, count: next.count, open });
      if (open) walk(next, path, depth + 1);
    }
    for (const { row, name } of at.rows) lines.push({ kind: 'key', row, name, depth });
  };
  walk(root, '', 0);
  return lines;
}

function folder<Row>(): Folder<Row> {
  return { folders: new Map(), rows: [], count: 0 };
}
