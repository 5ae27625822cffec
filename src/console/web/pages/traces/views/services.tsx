// The service breakdown of a trace (TRC-13).

import { type ReactNode, useEffect, useState } from 'react';
import { formatCount, formatDuration, formatShare } from '../../../kit/charts/times.ts';
import { Loading } from '../../../kit/feedback/empty-state.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import type { Column } from '../../../kit/table/column.ts';
import { Table } from '../../../kit/table/table.tsx';
import type { ServiceFigures } from '../logic/trace-services.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { TraceClient } from '../trace/use-trace.ts';

export interface ServicesProps {
  readonly client: TraceClient;
  readonly view: TraceView;
  readonly serviceColours: readonly string[];
  /** Shows only the spans of that service. */
  readonly onService: (service: string) => void;
}

export function Services({ client, view, serviceColours, onService }: ServicesProps): ReactNode {
  const [figures, setFigures] = useState<readonly ServiceFigures[]>();
  useEffect(() => {
    let isCurrent = true;
    void client.ask({ op: 'services' }).then((next) => isCurrent && view !== undefined && setFigures(next));
    return () => {
      isCurrent = false;
    };
  }, [client, view]);
  if (figures === undefined) return <Loading what="the services" />;
  const colourOf = (service: string): string | undefined => serviceColours[view.columns.services.indexOf(service)];
  return (
    <Table
      name="trace-services"
      label="Services of the trace"
      columns={columnsOf(colourOf)}
      rows={figures}
      keyOf={keyOf}
      onOpen={({ service }) => onService(service)}
      foot={<span className="px-2">Open a service to see its spans in the waterfall</span>}
    />
  );
}

const keyOf = ({ service }: ServiceFigures): string => service;

function columnsOf(colourOf: (service: string) => string | undefined): readonly Column<ServiceFigures>[] {
  return [
    {
      id: 'service',
      header: 'Service',
      width: 200,
      grow: 2,
      cell: ({ service }) => (
        <>
          <span aria-hidden className="size-2.5 shrink-0 rounded-[2px]" style={{ background: colourOf(service) }} />
          <span className="truncate">{visibleText(service)}</span>
        </>
      ),
      text: ({ service }) => service,
    },
    {
      id: 'spans',
      header: 'Spans',
      width: 90,
      align: 'right',
      cell: ({ spanCount }) => formatCount(spanCount),
      text: ({ spanCount }) => spanCount,
    },
    {
      id: 'average',
      header: 'Average duration',
      width: 140,
      align: 'right',
      cell: ({ averageMs }) => formatDuration(averageMs),
      text: ({ averageMs }) => averageMs,
    },
    {
      id: 'errors',
      header: 'Error rate',
      width: 130,
      align: 'right',
      cell: ({ errorCount, spanCount }) => (
        <span className={errorCount > 0 ? 'text-bad' : 'text-muted'}>
          {formatShare(errorCount / spanCount)}
          {errorCount > 0 && ` (${formatCount(errorCount)})`}
        </span>
      ),
      text: ({ errorCount, spanCount }) => errorCount / spanCount,
    },
    {
      id: 'self',
      header: 'Self time',
      width: 110,
      align: 'right',
      cell: ({ selfMs }) => formatDuration(selfMs),
      text: ({ selfMs }) => selfMs,
    },
    {
      id: 'path',
      header: 'Share of critical path',
      width: 200,
      grow: 1,
      cell: ({ service, pathShare }) => <ShareBar share={pathShare} colour={colourOf(service)} />,
      text: ({ pathShare }) => pathShare,
    },
  ];
}

function ShareBar({ share, colour }: { readonly share: number; readonly colour: string | undefined }): ReactNode {
  return (
    <>
      <span className="w-12 shrink-0 text-right">{formatShare(share)}</span>
      <span aria-hidden className="h-2 min-w-0 flex-1 overflow-hidden rounded-full bg-raised">
        <span className="block h-full rounded-full" style={{ width: `${share * 100}%`, background: colour }} />
      </span>
    </>
  );
}
