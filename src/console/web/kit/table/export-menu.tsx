// Rows of a table as a file: the selected rows, or all that match the filter, read to the end (APP-11).

import { Download } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { formatCount } from '../charts/times.ts';
import { toast } from '../feedback/toast-store.ts';
import { Button, IconButton } from '../inputs/button.tsx';
import { download } from '../inputs/clipboard.ts';
import { Menu } from '../inputs/menu.tsx';
import type { ColumnChoice } from './column.ts';
import { toCsv, toJsonLines } from './logic/table-export.ts';

export interface ExportMenuProps<Row> {
  readonly name: string;
  readonly choice: ColumnChoice<Row>;
  /** Empty: everything that matches the filter is exported. */
  readonly chosen: readonly Row[];
  readonly loaded: readonly Row[];
  /** Reads the next page; undefined: all rows are loaded. */
  readonly more: (() => void) | undefined;
}

/** A number of rows that a browser holds easily. */
const EXPORTED_MAX = 100_000;

const FORMATS = {
  jsonl: { words: 'JSON lines', type: 'application/jsonl', print: toJsonLines },
  csv: { words: 'CSV', type: 'text/csv', print: toCsv },
} as const;
type Format = keyof typeof FORMATS;

export function ExportMenu<Row>(props: ExportMenuProps<Row>): ReactNode {
  const { name, choice, chosen, loaded, more } = props;
  const [awaited, setAwaited] = useState<Format>();
  const write = (format: Format, rows: readonly Row[]): void => {
    const { type, print } = FORMATS[format];
    const ids = choice.visible.map(({ id }) => id);
    const cells = rows.map((row) => choice.visible.map((column) => column.text(row)));
    download(`${name}.${format}`, type, print(ids, cells));
  };
  useEffect(() => {
    if (awaited === undefined) return;
    if (more !== undefined && loaded.length < EXPORTED_MAX) return more();
    write(awaited, loaded);
    setAwaited(undefined);
    if (more === undefined) return;
    toast({
      tone: 'bad',
      text: `Only the first ${formatCount(loaded.length)} rows were exported. Filter the list to export fewer rows.`,
    });
  });
  if (awaited !== undefined) {
    return (
      <span className="flex items-center gap-2">
        Reading for the export: {formatCount(loaded.length)}
        <Button look="ghost" onClick={() => setAwaited(undefined)}>
          Stop
        </Button>
      </span>
    );
  }
  const what = chosen.length > 0 ? 'Selected rows' : more === undefined ? 'All rows' : 'All that match';
  return (
    <Menu
      trigger={
        <IconButton label="Export">
          <Download size={15} />
        </IconButton>
      }
      items={(['jsonl', 'csv'] as const).map((format) => ({
        label: `${what} as ${FORMATS[format].words}`,
        run: () => (chosen.length > 0 ? write(format, chosen) : setAwaited(format)),
      }))}
    />
  );
}
