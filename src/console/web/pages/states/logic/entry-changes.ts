// Changes of an entry: the list of update operations that a form builds, as the JSON that `state::update` takes
// (STA-5), the state triggers that a write fires, judging by their configuration (STA-7), and the last 50 values since
// this page opened it (STA-4). Pure.

import { jsonProblem } from '../../../kit/json/logic/json-source.ts';

export const OP_TYPES = ['set', 'merge', 'increment', 'decrement', 'append', 'remove'] as const;
export type OpType = (typeof OP_TYPES)[number];

export interface OpDraft {
  readonly id: number;
  readonly type: OpType;
  /** A field; empty means the value itself. For `merge`, dots may join several parts. */
  readonly path: string;
  /** JSON, or the number of an increment. */
  readonly value: string;
}

/** What the operation takes in addition to its path. */
export function operandOf(type: OpType): 'value' | 'by' | undefined {
  if (type === 'remove') return undefined;
  return type === 'increment' || type === 'decrement' ? 'by' : 'value';
}

export function opProblem({ type, value }: OpDraft): string | undefined {
  const operand = operandOf(type);
  if (operand === undefined) return undefined;
  if (value.trim() === '') return operand === 'by' ? undefined : 'a value is needed';
  if (operand === 'by' && !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value.trim())) return 'a number is needed';
  return jsonProblem(value);
}

/** The values as they were typed. */
export function opsText(drafts: readonly OpDraft[]): string {
  return `[${drafts.map(opText).join(',')}]`;
}

function opText({ type, path, value }: OpDraft): string {
  const members = [`"type":${JSON.stringify(type)}`];
  if (path !== '') {
    const parts = path.split('.');
    members.push(`"path":${JSON.stringify(type === 'merge' && parts.length > 1 ? parts : path)}`);
  }
  const operand = operandOf(type);
  if (operand !== undefined) {
    const text = value.trim();
    members.push(`"${operand}":${text === '' ? '1' : text}`);
  }
  return `{${members.join(',')}}`;
}

interface StateTrigger {
  readonly config: unknown;
  readonly status: string;
}

/** A trigger without a scope or key fires for all of them. */
export function stateTriggersOf<T extends StateTrigger>(triggers: readonly T[], scope: string, key: string): T[] {
  return triggers.filter(({ config, status }) => {
    if (status === 'Inactive') return false;
    const { scope: wantedScope, key: wantedKey } = (config ?? {}) as { scope?: unknown; key?: unknown };
    return (
      (typeof wantedScope !== 'string' || wantedScope === scope) && (typeof wantedKey !== 'string' || wantedKey === key)
    );
  });
}

export interface ValueChange {
  readonly atMs: number;
  /** As stored; undefined: there was no entry. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Writes between the two reads: those in between were faster than the page. */
  readonly writes: number;
}

export const CHANGES_KEPT = 50;

/** Oldest first. A read that finds the same text again is not a change. */
export function withChange(changes: readonly ValueChange[], change: ValueChange): readonly ValueChange[] {
  if (change.before === change.after) return changes;
  return [...changes, change].slice(-CHANGES_KEPT);
}
