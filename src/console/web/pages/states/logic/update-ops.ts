// The list of update operations that a form builds (STA-5), as the JSON that `state::update` takes. Pure.

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
