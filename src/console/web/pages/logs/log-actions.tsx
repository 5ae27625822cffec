// Actions on all records that match: export them (LOG-7), clear the store.

import { Download } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { LogRow, LogSearch } from '../../../api/telemetry.ts';
import { call } from '../../data/api.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { ClearAll } from '../../kit/feedback/confirm.tsx';
import { toast } from '../../kit/feedback/toast.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { download } from '../../kit/inputs/copy.tsx';
import { Menu } from '../../kit/inputs/menu.tsx';
import { toCsv } from '../../kit/table/table-export.ts';
import { valueText } from './log-row.tsx';
import type { LogsSearch } from './logs-search.ts';

const EXPORT_MAX = 100_000;
const PAGE = 1_000;

export function LogActions({
  question,
  search,
  onCleared,
}: {
  readonly question: LogSearch;
  readonly search: LogsSearch;
  readonly onCleared: () => void;
}): ReactNode {
  const [progress, setProgress] = useState<number>();
  const save = async (format: 'jsonl' | 'csv'): Promise<void> => {
    try {
      const logs = await readAll({ ...question, order: search.order }, setProgress);
      if (format === 'jsonl')
        download('logs.jsonl', 'application/jsonl', logs.map((log) => `${JSON.stringify(log)}\n`).join(''));
      else download('logs.csv', 'text/csv', csvOf(logs, search.cols));
    } catch (error) {
      toast({ tone: 'bad', text: `Export failed: ${error instanceof Error ? error.message : String(error)}` });
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <>
      <Menu
        trigger={
          <Button icon={<Download size={14} />} disabled={progress !== undefined}>
            {progress === undefined ? 'Export' : `${formatCount(progress)} read`}
          </Button>
        }
        items={[
          { label: 'All that match, as JSON lines', run: () => void save('jsonl') },
          { label: 'All that match, as CSV', run: () => void save('csv') },
        ]}
      />
      <ClearAll what="logs" onCleared={onCleared}>
        Every stored record is removed from the engine. Traces and metrics stay.
      </ClearAll>
    </>
  );
}

async function readAll(question: LogSearch, report: (count: number) => void): Promise<LogRow[]> {
  const logs: LogRow[] = [];
  let cursor: string | null = null;
  do {
    const body: LogSearch = { ...question, limit: PAGE, ...(cursor !== null && { cursor }) };
    const answer: { items: LogRow[]; next_cursor: string | null } = await call('POST /logs/search', { body });
    logs.push(...answer.items);
    report(logs.length);
    cursor = answer.next_cursor;
  } while (cursor !== null && logs.length < EXPORT_MAX);
  if (cursor !== null) toast({ tone: 'bad', text: `Only the first ${formatCount(logs.length)} records were exported` });
  return logs;
}

function csvOf(logs: readonly LogRow[], attributes: readonly string[]): string {
  const head = ['timestamp_unix_nano', 'severity', 'service', 'message', 'trace_id', 'span_id', ...attributes];
  return toCsv(
    head,
    logs.map((log) => [
      BigInt(Math.round(log.timestamp_unix_nano)).toString(),
      log.severity_text,
      log.service_name,
      log.body,
      log.trace_id,
      log.span_id,
      ...attributes.map((key) => valueText(log.attributes[key])),
    ]),
  );
}
