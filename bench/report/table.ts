// Medians of the rounds of cells, and their rows of a table.

import { type CellResult, type CellSpec, type Contender, measureCell } from '../support/cell.ts';

export type Medians = CellResult;

/** Runs every contender in every round, in alternating order, so that a drift of the machine favours none. */
export async function measureRounds(
  contenders: readonly Contender[],
  spec: CellSpec,
  rounds: number,
): Promise<Map<string, Medians>> {
  const results = new Map<string, CellResult[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contenders : [...contenders].reverse();
    for (const contender of order) results.get(contender.name)?.push(await measureCell(contender, spec));
  }
  return new Map([...results].map(([name, cells]) => [name, medians(cells)]));
}

export const TABLE_HEADER = [
  '| payload | in flight | contender | calls/s | p50 µs | p99 µs | worst µs | CPU µs server | responder | caller ' +
    '| RSS MiB |',
  '|---|---|---|---|---|---|---|---|---|---|---|',
  '',
].join('\n');

export function tableRow({ payloadBytes, inFlight }: CellSpec, name: string, result: Medians): string {
  const figures = [
    result.callsPerSecond.toFixed(0),
    result.p50Us.toFixed(0),
    result.p99Us.toFixed(0),
    result.worstUs.toFixed(0),
    result.serverCpuUs.toFixed(1),
    result.responderCpuUs.toFixed(1),
    result.callerCpuUs.toFixed(1),
    result.serverRssMib.toFixed(0),
  ];
  return `| ${[payloadBytes, inFlight, name, ...figures].join(' | ')} |\n`;
}

function medians(cells: readonly CellResult[]): Medians {
  const of = (pick: (cell: CellResult) => number): number => {
    const sorted = cells.map(pick).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return {
    callsPerSecond: of((cell) => cell.callsPerSecond),
    p50Us: of((cell) => cell.p50Us),
    p99Us: of((cell) => cell.p99Us),
    worstUs: of((cell) => cell.worstUs),
    serverCpuUs: of((cell) => cell.serverCpuUs),
    responderCpuUs: of((cell) => cell.responderCpuUs),
    callerCpuUs: of((cell) => cell.callerCpuUs),
    serverRssMib: of((cell) => cell.serverRssMib),
  };
}
