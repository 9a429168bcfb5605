import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { GatewayFaults } from '../faults/gateway-faults.js';
import type { World } from '../state/world.js';
import { acceptConnection } from './connection.js';

export interface GatewayServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export interface GatewayOptions {
  heartbeatIntervalMs: number;
}

/** The gateway: WebSockets at any path of the server. */
export function createGateway(world: World, faults: GatewayFaults, options: GatewayOptions): GatewayServer {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 64 * 1024 });
  const open = new Set<WebSocket>();
  return {
    handleUpgrade: (request, socket, head) => {
      if (faults.refuseConnections > 0) {
        faults.refuseConnections -= 1;
        socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (client) => {
        open.add(client);
        client.on('close', () => open.delete(client));
        acceptConnection(world, faults, options, client, new URL(request.url ?? '/', 'http://localhost'));
      });
    },
    close: () => {
      for (const client of open) client.terminate();
      server.close();
    },
  };
}
