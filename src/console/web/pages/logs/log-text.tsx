// The text of a log record: terminal colours as colours of the theme, addresses as links, searched words marked. The
// text never becomes markup (LOG-2).

import { Fragment, type ReactNode } from 'react';
import { keyed } from '../../data/keyed.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { type AnsiColour, ansiRuns } from './logic/ansi.ts';
import { markPieces } from './logic/mark-words.ts';
import { linkPieces } from './logic/text-links.ts';

export interface LogTextProps {
  readonly text: string;
  readonly isWrapped: boolean;
  /** Words to mark, ignoring case. */
  readonly marks: readonly string[];
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

export function LogText({ text, isWrapped, marks }: LogTextProps): ReactNode {
  return (
    <span
      className={classes(
        'font-mono text-sm',
        isWrapped ? 'break-words whitespace-pre-wrap' : 'truncate whitespace-pre',
      )}
    >
      {keyed(ansiRuns(text)).map(({ key, item: run }) => {
        const content = <Pieces key={key} text={run.text} marks={marks} />;
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

function Pieces({ text, marks }: { readonly text: string; readonly marks: readonly string[] }): ReactNode {
  return keyed(linkPieces(text)).map(({ key, item: piece }) => {
    const content = <Marked key={key} text={piece.text} marks={marks} />;
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

function Marked({ text, marks }: { readonly text: string; readonly marks: readonly string[] }): ReactNode {
  return keyed(markPieces(text, marks)).map(({ key, item: piece }) =>
    piece.isMarked ? (
      <mark key={key} className="rounded-sm bg-warn-soft text-warn">
        {visibleText(piece.text)}
      </mark>
    ) : (
      <Fragment key={key}>{visibleText(piece.text)}</Fragment>
    ),
  );
}
