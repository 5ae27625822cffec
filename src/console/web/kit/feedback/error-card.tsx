// What failed, with everything a report of it needs (APP-14), and the boundary that keeps a crash in its panel
// (APP-15).

import { Link } from '@tanstack/react-router';
import { Component, type ReactNode } from 'react';
import { ApiError } from '../../data/api.ts';
import { Button } from '../inputs/button.tsx';
import { copyText } from '../inputs/copy.tsx';
import { Shape } from './status.tsx';

export interface ErrorCardProps {
  readonly error: unknown;
  /** What was attempted: "Reading the functions". */
  readonly what?: string;
  readonly retry?: (() => void) | undefined;
}

export function ErrorCard({ error, what, retry }: ErrorCardProps): ReactNode {
  if (isOfOldBuild(error)) return <OldBuild />;
  const shown = describe(error);
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-lg border border-bad bg-bad-soft p-3 text-base">
      <div className="flex items-center gap-2">
        <Shape tone="bad" />
        <code className="font-semibold break-all text-bad">{shown.code}</code>
        {what !== undefined && <span className="text-muted">{what}</span>}
      </div>
      <p className="break-words whitespace-pre-wrap">{shown.message}</p>
      {shown.stack !== undefined && (
        <details>
          <summary className="text-sm text-muted">Stack</summary>
          <pre className="mt-1 max-h-60 overflow-auto text-sm whitespace-pre-wrap text-muted">{shown.stack}</pre>
        </details>
      )}
      <div className="flex flex-wrap items-center gap-2">
        {retry !== undefined && <Button onClick={retry}>Try again</Button>}
        <Button onClick={() => void copyText(shown.report, 'error report')}>Copy report</Button>
        {shown.traceId !== undefined && (
          <Link to={`/traces/${shown.traceId}`} className="text-sm text-accent hover:underline">
            Open trace
          </Link>
        )}
        {shown.docUrl !== undefined && (
          <a href={shown.docUrl} target="_blank" rel="noopener noreferrer" className="text-sm text-accent underline">
            About this error
          </a>
        )}
      </div>
    </div>
  );
}

/** The file is gone from the server, because the console was built again after this page was opened. */
function isOfOldBuild(error: unknown): boolean {
  return error instanceof TypeError && /dynamically imported module|Importing a module script/i.test(error.message);
}

function OldBuild(): ReactNode {
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-lg border border-warn bg-warn-soft p-3">
      <p className="font-semibold">A part of the console cannot be loaded</p>
      <p>The console was updated after this page was opened, or its server does not answer. Drafts survive a reload.</p>
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  );
}

interface Described {
  readonly code: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly traceId?: string | undefined;
  readonly report: string;
}

function describe(error: unknown): Described {
  if (error instanceof ApiError) {
    const { exchange, code, message, stacktrace, docUrl, traceId } = error;
    const report = JSON.stringify({ code, message, ...exchange }, undefined, 2);
    const isLink = docUrl !== undefined && /^https?:\/\//.test(docUrl);
    // Codes of the engine have a page; some of them are in lower case on the wire only.
    const shown = isLink && code !== 'enqueue_error' ? code.toUpperCase() : code;
    const link = isLink ? docUrl : undefined;
    return { code: shown, message, stack: stacktrace, docUrl: link, traceId, report };
  }
  if (error instanceof Error) {
    const report = `${error.stack ?? error.message}\n${location.href}\n${navigator.userAgent}`;
    return { code: error.name, message: error.message, stack: error.stack, report };
  }
  return { code: 'UNKNOWN', message: String(error), report: String(error) };
}

interface BoundaryState {
  readonly error: unknown;
  readonly round: number;
}

/** A crash inside is shown here, and the rest of the page keeps working (APP-15). */
export class PanelBoundary extends Component<{ readonly name: string; readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: undefined, round: 0 };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { error: error ?? new Error('Nothing was thrown') };
  }

  override render(): ReactNode {
    const { error, round } = this.state;
    if (error === undefined)
      return (
        <div key={round} className="contents">
          {this.props.children}
        </div>
      );
    return (
      <div className="p-4">
        <ErrorCard error={error} what={`in ${this.props.name}`} />
        <Button className="mt-2" onClick={() => this.setState({ error: undefined, round: round + 1 })}>
          Reload panel
        </Button>
      </div>
    );
  }
}
