// The severity of a log record as a word with its own shape and colour (ACC-2), and its text: terminal colours as
// colours of the theme, addresses as links, searched words marked. The text never becomes markup (LOG-2).

import { Fragment, type ReactNode } from 'react';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { type AnsiColour, ansiRuns, linkPieces, markPieces } from './logic/text-pieces.ts';

export function keyed<T>(items: readonly T[]): { readonly key: string; readonly item: T }[] {
  return items.map((item, at) => ({ key: String(at), item }));
}

export const SEVERITIES = ['ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'] as const;
export type SeverityWord = (typeof SEVERITIES)[number];

const LOOKS: Readonly<Record<SeverityWord, string>> = {
  ERROR: 'bg-bad-soft text-bad font-semibold',
  WARN: 'bg-warn-soft text-warn font-semibold',
  INFO: 'bg-accent-soft text-accent',
  DEBUG: 'bg-raised text-muted',
  TRACE: 'text-muted',
};

export function Severity({ text }: { readonly text: string }): ReactNode {
  const word = SEVERITIES.find((known) => known === text.toUpperCase());
  return (
    <span
      className={classes(
        'inline-flex h-[18px] w-12 shrink-0 items-center justify-center rounded-sm text-xs',
        word === undefined ? 'bg-raised text-muted' : LOOKS[word],
      )}
    >
      {text.toUpperCase()}
    </span>
  );
}

export interface LogTextProps {
  readonly text: string;
  readonly isWrapped: boolean;
  /** Words to mark, ignoring case. */
  readonly markedWords: readonly string[];
}

const COLOURS: Readonly<Record<AnsiColour, string>> = {
  black: 'text-faint',
  red: 'text-bad',
  green: 'text-good',
  yellow: 'text-warn',
  blue: 'text-accent',
  magenta: 'text-violet',
  cyan: 'text-accent',
  white: 'text-text',
};

export function LogText({ text, isWrapped, markedWords }: LogTextProps): ReactNode {
  return (
    <span
      className={classes(
        'font-mono text-sm',
        isWrapped ? 'break-words whitespace-pre-wrap' : 'truncate whitespace-pre',
      )}
    >
      {keyed(ansiRuns(text)).map(({ key, item: run }) => {
        const content = <Pieces key={key} text={run.text} markedWords={markedWords} />;
        if (run.colour === null && !run.isBold) return content;
        const look = classes(run.colour !== null && COLOURS[run.colour], run.isBold && 'font-semibold');
        return (
          <span key={key} className={look}>
            {content}
          </span>
        );
      })}
    </span>
  );
}

function Pieces({ text, markedWords }: { readonly text: string; readonly markedWords: readonly string[] }): ReactNode {
  return keyed(linkPieces(text)).map(({ key, item: piece }) => {
    const content = <Marked key={key} text={piece.text} markedWords={markedWords} />;
    if (piece.href === null) return content;
    return (
      <a
        key={key}
        href={piece.href}
        target="_blank"
        rel="noopener noreferrer"
        className="text-accent underline"
        onClick={(event) => event.stopPropagation()}
      >
        {content}
      </a>
    );
  });
}

function Marked({ text, markedWords }: { readonly text: string; readonly markedWords: readonly string[] }): ReactNode {
  return keyed(markPieces(text, markedWords)).map(({ key, item: piece }) =>
    piece.isMarked ? (
      <mark key={key} className="rounded-sm bg-warn-soft text-warn">
        {visibleText(piece.text)}
      </mark>
    ) : (
      <Fragment key={key}>{visibleText(piece.text)}</Fragment>
    ),
  );
}
