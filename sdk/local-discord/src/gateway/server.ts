import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { GatewayFaults } from '../faults/gateway-faults.js';
import type { World } from '../state/world.js';
import { acceptConnection } from './connection.js';
import type { ConnectionRecorder } from './connection-log.js';

export interface GatewayServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export interface GatewayOptions {
  heartbeatIntervalMs: number;
}

/** The gateway: WebSockets at any path of the server. */
export function createGateway(
  world: World,
  faults: GatewayFaults,
  connections: ConnectionRecorder,
  options: GatewayOptions,
): GatewayServer {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 64 * 1024 });
  const hanging = new Set<Duplex>();
  return {
    handleUpgrade: (request, socket, head) => {
      const attempt = connections.attempt();
      if (faults.take('cutConnections')) {
        attempt.failed = true;
        socket.destroy();
        return;
      }
      if (faults.take('hangConnections')) {
        attempt.failed = true;
        hanging.add(socket);
        socket.resume();
        socket.on('error', () => undefined);
        socket.on('close', () => hanging.delete(socket));
        return;
      }
      if (faults.take('refuseConnections')) {
        attempt.failed = true;
        socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (client) => {
        connections.opened(client, attempt);
        const url = new URL(request.url ?? '/', 'http://localhost');
        acceptConnection(world, faults, options, client, url, attempt);
      });
    },
    close: () => {
      for (const client of connections.open) client.terminate();
      for (const socket of hanging) socket.destroy();
      server.close();
    },
  };
}
