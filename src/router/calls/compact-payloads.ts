// The engine's state for compact payloads, shared by all connections.

import { ShapeTable } from '../../core/calls/shape-table.ts';
import { nodeText } from '../../protocol/json/node-text.ts';
import { CompactDecoder } from '../../protocol/payload/compact-decode.ts';

export class CompactPayloads {
  readonly shapes = new ShapeTable();
  /** For parts of the engine, and connections, that need the value as JSON. */
  readonly decoder = new CompactDecoder(nodeText, (number) => this.shapes.shape(number));
}
