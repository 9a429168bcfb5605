import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { GatewayOpcodes, type GatewaySendPayload, PresenceUpdateStatus } from 'discord.js';
import { WebSocketServer } from 'ws';
import { connectTo, openOutbox } from './harness.js';

const INTERVAL_MS = 40_000;
const SECOND_MS = 1_000;

const presence = (name: string): GatewaySendPayload => ({
  op: GatewayOpcodes.PresenceUpdate,
  d: { since: null, activities: [{ name, type: 0 }], status: PresenceUpdateStatus.Online, afk: false },
});

/** A gateway that sends HELLO and acknowledges heartbeats. */
async function openGateway() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  const received: string[] = [];
  server.on('connection', (socket) => {
    socket.send(JSON.stringify({ op: GatewayOpcodes.Hello, d: { heartbeat_interval: INTERVAL_MS } }));
    socket.on('message', (data) => {
      received.push(String(data));
      if (String(data).startsWith('{"op":1,')) socket.send(`{"op":${GatewayOpcodes.HeartbeatAck}}`);
    });
  });
  return {
    server,
    received,
    url: `ws://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

describe('a connection to the gateway', () => {
  it('beats as long as heartbeats are acknowledged, also when the clock jumps over several intervals', async () => {
    await using gateway = await openGateway();
    const { connection, clock, latencies } = await connectTo(gateway.url);
    for (let beats = 1; beats <= 4; beats += 1) {
      clock.advance(2.5 * INTERVAL_MS);
      while (latencies.length < beats) await setImmediate();
    }
    connection.end('the test is over');
    expect((await connection.ended).reason).to.equal('the test is over');
  });

  it('ends when the socket takes nothing any more: heartbeats that cannot leave are not acknowledged either', async () => {
    await using gateway = await openGateway();
    const { connection, clock } = await connectTo(gateway.url);
    for (const socket of gateway.server.clients) socket.pause();
    connection.send(presence('x'.repeat(16_000_000)));
    let ending: string | undefined;
    void connection.ended.then(({ reason }) => {
      ending = reason;
    });
    for (let seconds = 0; seconds < 120 && ending === undefined; seconds += 5) {
      clock.advance(5 * SECOND_MS);
      await setImmediate();
    }
    await setImmediate();
    expect(ending).to.equal('heartbeats can no longer be sent');
  });
});

describe('a shard’s payload', () => {
  it('waits for the next connection when the socket is closing', async () => {
    await using gateway = await openGateway();
    const outbox = openOutbox();
    const first = await connectTo(gateway.url);
    outbox.open(first.connection.send);
    await outbox.send(presence('one'));
    first.connection.end('Discord asked for a new connection');
    let isSent = false;
    const sent = outbox.send(presence('two')).then(() => {
      isSent = true;
    });
    await first.connection.ended;
    outbox.close();
    expect(isSent).to.equal(false);
    const second = await connectTo(gateway.url);
    outbox.open(second.connection.send);
    await sent;
    second.connection.end('the test is over');
    await second.connection.ended;
    expect(gateway.received.map((text) => /"name":"(\w+)"/.exec(text)?.[1])).to.deep.equal(['one', 'two']);
  });
});
