// The control of the time range, in the header of every page that has times (APP-16), and the note where a range
// reaches back further than there is data.

import { Clock } from 'lucide-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { explainRetention, type MissingEngine, type Retention } from '../../../../core/telemetry/records/retention.ts';
import { RANGE_CHOICES, rangeLabel, readMoment, type TimeRange, useTimeRange } from '../../data/time-range.ts';
import { formatLocal } from '../charts/times.ts';
import { Flyout } from '../layout/overlays.tsx';
import { Button } from './button.tsx';
import { Field, Input } from './field.tsx';

export function TimeRangeControl(): ReactNode {
  const { range, setRange } = useTimeRange();
  const [isOpen, setOpen] = useState(false);
  const choose = (next: TimeRange): void => {
    setRange(next);
    setOpen(false);
  };
  return (
    <Flyout
      label="Time range"
      open={isOpen}
      onOpenChange={setOpen}
      className="w-64"
      trigger={
        <Button icon={<Clock size={13} />} title="Time range of all pages">
          {rangeLabel(range)}
        </Button>
      }
    >
      <ul className="flex flex-col gap-1 pb-2">
        {RANGE_CHOICES.map((choice) => (
          <li key={choice.label}>
            <button
              type="button"
              aria-pressed={choice.from === range.from && choice.to === range.to}
              onClick={() => choose(choice)}
              className={
                'w-full rounded-md px-2 py-1 text-left hover:bg-hover aria-pressed:bg-accent-soft ' +
                'aria-pressed:text-accent'
              }
            >
              {choice.label}
            </button>
          </li>
        ))}
      </ul>
      <CustomRange key={`${range.from} ${range.to}`} range={range} choose={choose} />
    </Flyout>
  );
}

function CustomRange({
  range,
  choose,
}: {
  readonly range: TimeRange;
  readonly choose: (range: TimeRange) => void;
}): ReactNode {
  const [from, setFrom] = useState(range.from);
  const [to, setTo] = useState(range.to);
  const isBad = (text: string): boolean => text.trim() !== '' && readMoment(text, 0) === undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isBad(from) && !isBad(to)) choose({ from: from.trim(), to: to.trim() });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2 border-t border-line pt-2">
      <Moment label="From" value={from} onChange={setFrom} isBad={isBad(from)} />
      <Moment label="Until" value={to} onChange={setTo} isBad={isBad(to)} />
      <Button type="submit">Apply</Button>
    </form>
  );
}

interface MomentProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly isBad: boolean;
}

function Moment({ label, value, onChange, isBad }: MomentProps): ReactNode {
  return (
    <Field label={label} error={isBad ? 'A time is now-15m, ISO or Unix milliseconds.' : undefined}>
      {(ids) => (
        <Input
          {...ids}
          value={value}
          placeholder="now-2h"
          aria-invalid={isBad}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

export interface CountedNoteProps {
  /** What is counted, as the page names it. */
  readonly what: string;
  readonly range: TimeRange;
  /** When counting began; null: before the range. */
  readonly sinceMs: number | null;
}

/** Where the range begins before there are counts. Without a range the page shows its usual window, however short. */
export function CountedNote({ what, range, sinceMs }: CountedNoteProps): ReactNode {
  if (sinceMs === null || range.from === '') return null;
  return (
    <p role="note" className="shrink-0 border-b border-line bg-panel px-4 py-1.5 text-sm text-muted">
      The range begins earlier. {what} are counted since {formatLocal(sinceMs)}: an engine keeps its counts for a week,
      and begins again when it starts.
    </p>
  );
}

export interface RangeNoteProps {
  readonly kind: 'traces' | 'logs';
  /** Unix milliseconds; undefined: the range has no start. */
  readonly startMs: number | undefined;
  readonly list: { readonly retention: Retention | undefined; readonly missingEngines: readonly MissingEngine[] };
}

/** What the list lacks: a range that begins before there is data, and engines that gave no answer. */
export function RangeNote({ kind, startMs, list: { retention, missingEngines } }: RangeNoteProps): ReactNode {
  const isEarly = startMs !== undefined && retention !== undefined && retention.whole_since_ms > startMs;
  if (!isEarly && missingEngines.length === 0) return null;
  return (
    <div role="note" className="shrink-0 border-b border-line bg-panel px-4 py-1.5 text-sm text-muted">
      {isEarly && <p>The range begins earlier. {explainRetention(kind, retention, formatLocal).join(' ')}</p>}
      {missingEngines.map(({ engine, reason }) => (
        <p key={engine}>
          The engine {engine} gave no answer, and its {kind} are missing here: {reason}
        </p>
      ))}
    </div>
  );
}
