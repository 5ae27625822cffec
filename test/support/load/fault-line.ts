// The line that every test of the fault catalogue prints (docs/spec/faults.md): `id name figure limit PASS|FAIL`.

import { onTestFinished } from 'vitest';

export interface FaultLine {
  /** The measured figure, in the unit of the limit. `none` if the test failed before it measured anything. */
  figure: string;
}

/** Called first in a test; the line is printed when the test ends, passed or failed. */
export function faultLine(id: string, name: string, limit: string): FaultLine {
  const line: FaultLine = { figure: 'none' };
  onTestFinished(({ task }) => {
    const verdict = task.result?.state === 'pass' ? 'PASS' : 'FAIL';
    process.stdout.write(`${[id, name, line.figure, limit].map(oneWord).join(' ')} ${verdict}\n`);
  });
  return line;
}

/** Fields are parted by blanks. */
function oneWord(text: string): string {
  return text.replaceAll(/\s+/g, '-');
}
