// The lines of the flow with the numbers at them (FLO-2), and the whole flow as an SVG file for documents: no script,
// no font, no external address (FLO-4).

import {
  bestShares,
  type Curve,
  curveBetween,
  type Point,
  pathOf,
  placeLabels,
} from '../../../kit/charts/label-layout.ts';
import { formatRate, formatShare } from '../../../kit/charts/times.ts';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { NODE_SIZE, type NodePosition, type NodePositions } from './flow-layout.ts';
import type { FlowView, ViewEdge, ViewNode } from './flow-view.ts';

export interface FlowFigures {
  /** The first is the number of calls. The second, if any, is the number of failures. */
  readonly lines: readonly string[];
  /** The middle of the lines. */
  readonly at: Point;
}

/** Above this many edges no numbers are drawn. */
const LABELLED_MAX = 80;
/** The width of 11 px text, rather too large than too small, and the margin around it. */
const [CHAR_PX, SIDES_PX, LABEL_LINE_PX] = [6.2, 8, 15] as const;

/** By the id of the edge. */
export function flowFigures({ nodes, edges }: FlowView, positions: NodePositions): ReadonlyMap<string, FlowFigures> {
  if (edges.length > LABELLED_MAX) return new Map();
  const labelled = edges.flatMap((edge) => {
    const lines = figuresOf(edge);
    const curve = flowCurve(positions[edge.from], positions[edge.to]);
    return lines.length === 0 || curve === undefined ? [] : [{ edge, lines, curve }];
  });
  const boxes = nodes.flatMap(({ id }) => {
    const position = positions[id];
    return position === undefined ? [] : [{ ...position, ...NODE_SIZE }];
  });
  const best = bestShares(labelled.map(({ edge }) => edge));
  const labels = labelled.map(({ lines, curve }, index) => ({
    curve,
    best: best[index] ?? 0.5,
    width: Math.max(...lines.map(({ length }) => length)) * CHAR_PX + SIDES_PX,
    height: lines.length * LABEL_LINE_PX,
  }));
  const spots = placeLabels(labels, boxes);
  return new Map(labelled.map(({ edge, lines, curve }, index) => [edge.id, { lines, at: spots[index] ?? curve[0] }]));
}

function flowCurve(from: NodePosition | undefined, to: NodePosition | undefined): Curve | undefined {
  if (from === undefined || to === undefined) return undefined;
  const middle = NODE_SIZE.height / 2;
  return curveBetween({ x: from.x + NODE_SIZE.width, y: from.y + middle }, { x: to.x, y: to.y + middle });
}

function figuresOf({ callsPerMinute, errorRate }: ViewEdge): readonly string[] {
  if (callsPerMinute === null || callsPerMinute === 0) return [];
  const failed = errorRate === null || errorRate === 0 ? [] : [`${formatShare(errorRate)} fail`];
  return [`${formatRate(callsPerMinute)}/min`, ...failed];
}

export interface SvgColours {
  readonly ground: string;
  readonly box: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly bad: string;
}

const MARGIN = 24;
const LABEL_CHARS = 28;
/** Of the numbers at a line: from one to the next, and from the middle of one to its baseline. */
const [TEXT_LINE_PX, BASELINE_PX] = [14, 4];

export function flowSvg(view: FlowView, positions: NodePositions, colours: SvgColours): string {
  const { nodes, edges } = view;
  const placed = nodes.flatMap((node) => {
    const position = positions[node.id];
    return position === undefined ? [] : [{ node, ...position }];
  });
  const left = Math.min(0, ...placed.map(({ x }) => x)) - MARGIN;
  const top = Math.min(0, ...placed.map(({ y }) => y)) - MARGIN;
  const right = Math.max(0, ...placed.map(({ x }) => x + NODE_SIZE.width)) + MARGIN;
  const bottom = Math.max(0, ...placed.map(({ y }) => y + NODE_SIZE.height)) + MARGIN;
  const lines = edges.flatMap(({ from, to, kind, errorRate }) => {
    const curve = flowCurve(positions[from], positions[to]);
    if (curve === undefined) return [];
    const dashes = kind === 'seen' ? ' stroke-dasharray="5 4"' : '';
    const colour = (errorRate ?? 0) > 0 ? colours.bad : colours.line;
    return [`<path d="${pathOf(curve)}" fill="none" stroke="${colour}"${dashes}/>`];
  });
  const figures = [...flowFigures(view, positions).values()].map((one) => words(one, colours));
  const boxes = placed.map(({ node, x, y }) => box(node, x, y, colours));
  const [width, height] = [right - left, bottom - top];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" \
viewBox="${left} ${top} ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">
<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${colours.ground}"/>
${[...lines, ...figures, ...boxes].join('\n')}
</svg>
`;
}

function words({ lines, at }: FlowFigures, colours: SvgColours): string {
  const look = `text-anchor="middle" font-size="11" fill="${colours.muted}"`;
  const halo = `stroke="${colours.ground}" stroke-width="5" paint-order="stroke"`;
  const first = at.y + BASELINE_PX - ((lines.length - 1) / 2) * TEXT_LINE_PX;
  const texts = lines.map((line, row) => {
    return `<text x="${at.x}" y="${first + row * TEXT_LINE_PX}" ${look} ${halo}>${escaped(line)}</text>`;
  });
  return texts.join('');
}

function box(node: ViewNode, x: number, y: number, colours: SvgColours): string {
  const { width, height } = NODE_SIZE;
  const stroke = node.isFailing ? colours.bad : colours.line;
  const name = visibleText(node.label);
  const shown = name.length > LABEL_CHARS ? `${name.slice(0, LABEL_CHARS - 1)}…` : name;
  return `<g><title>${escaped(name)}</title>\
<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${colours.box}" stroke="${stroke}"/>\
<text x="${x + 12}" y="${y + 18}" fill="${colours.text}">${escaped(shown)}</text>\
<text x="${x + 12}" y="${y + 34}" fill="${colours.muted}" font-size="10">${escaped(kindWords(node))}</text></g>`;
}

/** The text below the name of a node. */
export function kindWords({ node, members }: ViewNode): string {
  if (node === undefined) return `${members} parts`;
  const more = node.kind === 'trigger' ? node.trigger_type : node.worker;
  const failed = node.status === 'ok' ? '' : ` · ${node.status}`;
  return visibleText(`${node.kind}${more === null ? '' : ` · ${more}`}${failed}`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
