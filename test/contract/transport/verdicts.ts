// Contract of the transport: verdicts that come later.

import { expect, test } from 'vitest';
import type { Admission } from '../../../src/transport/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Connection, ContractPort, type TransportUnderTest } from './contract-port.ts';
import { FrameClient, upgradeRequest } from './frame-client.ts';

interface Asked {
  readonly decide: (admission: Admission) => void;
  goneCount: number;
}

function askingPort(transport: TransportUnderTest): Promise<{ port: ContractPort; asked: Asked[] }> {
  const asked: Asked[] = [];
  const admit = () => {
    let decide: Asked['decide'] = () => {};
    const verdict = new Promise<Admission>((resolve) => {
      decide = resolve;
    });
    const one: Asked = { decide, goneCount: 0 };
    asked.push(one);
    return {
      verdict,
      gone: () => {
        one.goneCount += 1;
      },
    };
  };
  return ContractPort.open(transport, { admit }).then((port) => ({ port, asked }));
}

async function dial(port: ContractPort, asked: readonly Asked[]): Promise<{ client: FrameClient; one: Asked }> {
  const before = asked.length;
  const client = await FrameClient.dial(port.port);
  client.socket.write(upgradeRequest());
  await waitFor('the port asks', () => asked.length > before);
  const one = asked[before];
  if (one === undefined) throw new Error('No verdict was requested');
  return { client, one };
}

export function testVerdicts(transport: TransportUnderTest): void {
  test('[X6] is admitted or refused when the verdict comes, and not before', async () => {
    const { port, asked } = await askingPort(transport);
    await using _ = port;
    const [welcome, stranger] = [await dial(port, asked), await dial(port, asked)];
    expect([welcome.client.head, stranger.client.head, port.connections.length]).toEqual(['', '', 0]);
    stranger.one.decide({ ok: false, status: 401, text: 'UNAUTHORIZED' });
    await stranger.client.answered();
    expect(stranger.client.status).toBe(401);
    welcome.one.decide({ ok: true, subprotocol: undefined });
    await welcome.client.answered();
    expect(welcome.client.status).toBe(101);
    expect(port.connections).toHaveLength(1);
    expect(asked.map(({ goneCount }) => goneCount)).toEqual([0, 0]);
  });

  test('[X6] the code that admits it may listen to the connection itself', async () => {
    const { port, asked } = await askingPort(transport);
    await using _ = port;
    const { client, one } = await dial(port, asked);
    const admitted: Connection[] = [];
    one.decide({
      ok: true,
      subprotocol: undefined,
      connected(socket, request) {
        const connection = new Connection(socket, request);
        admitted.push(connection);
        return connection;
      },
    });
    await client.answered();
    expect([admitted.length, port.connections.length]).toEqual([1, 0]);
  });

  test('[X6] a client that leaves before the verdict is reported once, and never as connected', async () => {
    const { port, asked } = await askingPort(transport);
    await using _ = port;
    const { client, one } = await dial(port, asked);
    client.socket.destroy();
    await client.ended;
    // One library sees it at once, the other when it would answer.
    one.decide({ ok: true, subprotocol: undefined });
    await waitFor('the end is known', () => one.goneCount > 0 || port.connections.length > 0);
    const [connection] = port.connections;
    if (connection === undefined) expect(one.goneCount).toBe(1);
    else await connection.closing();
  });
}
