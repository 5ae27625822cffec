// Export of a scope to a file, and import.

import { MoreHorizontal } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { call, isNotFound } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { toast } from '../../kit/feedback/toast.tsx';
import { IconButton } from '../../kit/inputs/button.tsx';
import { download } from '../../kit/inputs/copy.tsx';
import { Menu } from '../../kit/inputs/menu.tsx';
import { ImportDialog } from './import-items.tsx';
import { printStateLine } from './logic/state-lines.ts';
import { readItem } from './values.ts';

export function ScopeMenu({ scope }: { readonly scope: string }): ReactNode {
  const [isImporting, setImporting] = useState(false);
  const isReadOnly = useReadOnly();
  return (
    <>
      <Menu
        trigger={
          <IconButton label="Scope actions">
            <MoreHorizontal size={16} />
          </IconButton>
        }
        items={[
          { label: 'Export as JSON lines', run: () => void exportScope(scope) },
          { label: 'Import JSON lines…', disabled: isReadOnly, run: () => setImporting(true) },
        ]}
      />
      {isImporting && <ImportDialog scope={scope} onClose={() => setImporting(false)} />}
    </>
  );
}

async function exportScope(scope: string): Promise<void> {
  try {
    const values = await readValues(scope);
    const lines = [...values].map(([key, value]) => printStateLine({ key, value }));
    download(`${scope}.jsonl`, 'application/jsonl', lines.join(''));
    toast({ tone: 'good', text: `Exported ${formatCount(values.size)} entries` });
  } catch (thrown) {
    toast({ tone: 'bad', text: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

const PAGE = 1_000;

/** Every value of a scope as its text: a list contains the whole short ones, the others are read one by one. */
export async function readValues(scope: string): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const { items, next_cursor: next } = await call('GET /states/{scope}/items', { parts: { scope }, query });
    for (const { key, preview, truncated } of items) {
      if (!truncated) values.set(key, preview);
      else {
        // It may be deleted between the two reads.
        const item = await readItem(scope, key).catch((thrown: unknown) => {
          if (!isNotFound(thrown)) throw thrown;
        });
        if (item) values.set(key, item.text);
      }
    }
    cursor = next ?? undefined;
  }
  return values;
}
