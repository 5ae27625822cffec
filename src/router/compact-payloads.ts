// What the engine keeps of compact payloads, for all connections together.

import { ShapeTable } from '../core/shape-table.ts';
import { CompactDecoder } from '../protocol/compact-decode.ts';
import { nodeText } from '../protocol/node-text.ts';

export class CompactPayloads {
  readonly shapes = new ShapeTable();
  /** For the parts of the engine, and the connections, that need the value as JSON. */
  readonly decoder = new CompactDecoder(nodeText, (number) => this.shapes.shape(number));
}
