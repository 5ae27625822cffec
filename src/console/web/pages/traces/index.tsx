// The Traces page: the list, one trace at `/traces/<id>`, and at `/traces/file` a trace from a dropped file.

import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useStore } from '../../data/store.ts';
import { EmptyState } from '../../kit/feedback/empty-state.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { DropZone, droppedFile, FileButton } from './list/drop-file.tsx';
import { TraceList } from './list/trace-list.tsx';
import { TracePage } from './trace/trace-page.tsx';

export default function Traces(): ReactNode {
  const { id }: { id?: string } = useParams({ strict: false });
  const file = useStore(droppedFile);
  return (
    <DropZone>
      {id === undefined ? (
        <TraceList />
      ) : id !== 'file' ? (
        <TracePage key={id} source={{ from: 'engine', traceId: id }} />
      ) : file === undefined ? (
        <Page title="Trace from a file">
          <EmptyState title="Drop a trace file here">
            <p>OTLP JSON or Chrome trace events, as the Export button writes them. It stays in this browser.</p>
            <FileButton />
          </EmptyState>
        </Page>
      ) : (
        <TracePage key={file.name} source={{ from: 'file', text: file.text }} />
      )}
    </DropZone>
  );
}
