import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayCloseCodes, GatewayIntentBits, GatewayOpcodes } from 'discord-api-types/v10';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { GatewayFaults } from '../faults.js';
import { memberPayload } from '../payload/users.js';
import { byName } from '../resources/members.js';
import type { World } from '../world.js';
import type { ConnectionAttempt, ConnectionRecorder } from './connection-log.js';
import { type GatewayCommand, identify, type RequestMembersData, readCommand, resume } from './handshake.js';
import type { GatewaySession } from './session.js';

interface GatewayServer {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

interface GatewayOptions {
  heartbeatIntervalMs: number;
}

/** The gateway: accepts WebSockets at any path of the server. */
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

/** Handles one WebSocket, from HELLO to its end. */
function acceptConnection(
  world: World,
  faults: GatewayFaults,
  options: GatewayOptions,
  socket: WebSocket,
  url: URL,
  attempt: ConnectionAttempt,
): void {
  const fault = faults.takeClose();
  if (fault) {
    attempt.failed = true;
    socket.close(fault.code, fault.reason);
    return;
  }
  const version = url.searchParams.get('v');
  if (version !== null && version !== '10') {
    socket.close(GatewayCloseCodes.InvalidAPIVersion);
    return;
  }
  let session: GatewaySession | undefined;
  socket.on('message', (data) => {
    const command = readCommand(text(data));
    if (!command) socket.close(GatewayCloseCodes.DecodeError);
    else session = execute(world, faults, socket, session, command, attempt);
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', (code) => leave(world, socket, session, code));
  if (faults.take('withholdHello')) return;
  socket.send(JSON.stringify({ op: GatewayOpcodes.Hello, d: { heartbeat_interval: options.heartbeatIntervalMs } }));
}

/** Executes a client's command. @returns the session that the socket belongs to afterwards */
function execute(
  world: World,
  faults: GatewayFaults,
  socket: WebSocket,
  session: GatewaySession | undefined,
  command: GatewayCommand,
  attempt: ConnectionAttempt,
): GatewaySession | undefined {
  switch (command.op) {
    case GatewayOpcodes.Heartbeat:
      if (!faults.muteHeartbeatAcks) socket.send(`{"op":${GatewayOpcodes.HeartbeatAck}}`);
      for (const listener of session?.heartbeatListeners ?? []) listener(command.d ?? 0);
      return session;
    case GatewayOpcodes.Identify:
      if (session) return close(socket, GatewayCloseCodes.AlreadyAuthenticated);
      if (faults.take('withholdReady')) return undefined;
      return granted(attempt, 'identify', identify(world, socket, command.d));
    case GatewayOpcodes.Resume:
      if (session) return close(socket, GatewayCloseCodes.AlreadyAuthenticated);
      if (faults.take('withholdReady')) return undefined;
      return granted(
        attempt,
        'resume',
        resume(world, faults, socket, command.d, (events) => {
          attempt.replayed = events;
        }),
      );
    default:
      if (!session) return close(socket, GatewayCloseCodes.NotAuthenticated);
  }
  if (command.op === GatewayOpcodes.RequestGuildMembers) sendMemberChunks(world, session, command.d);
  if (command.op === GatewayOpcodes.PresenceUpdate) session.application.presence = command.d;
  return session;
}

function granted(
  attempt: ConnectionAttempt,
  asked: 'identify' | 'resume',
  session: GatewaySession | undefined,
): GatewaySession | undefined {
  attempt.asked = asked;
  attempt.granted = session !== undefined;
  if (session) attempt.shard = session.shard[0];
  return session;
}

function close(socket: WebSocket, code: GatewayCloseCodes): undefined {
  socket.close(code);
}

/** A client that closes with 1000 or 1001 ends its session; after any other code it may resume. */
function leave(world: World, socket: WebSocket, session: GatewaySession | undefined, code: number): void {
  if (session?.socket !== socket) return;
  session.socket = undefined;
  session.leftAt = world.clock.now();
  if (code === 1000 || code === 1001) world.sessions.delete(session);
  world.notify({ type: 'disconnect', application: session.application, shard: session.shard[0] });
}

function text(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

const CHUNK = 1_000;

/** Op 8: GUILD_MEMBERS_CHUNK, a thousand at a time. The whole list needs the GuildMembers intent; without it Discord sends nothing. */
function sendMemberChunks(world: World, session: GatewaySession, request: RequestMembersData): void {
  const guild = world.guilds.get(request.guild_id);
  if (!guild?.members.has(session.application.id)) return;
  const wantsAll = request.user_ids === undefined && (request.query ?? '') === '' && !request.limit;
  if (wantsAll && !(session.intents & GatewayIntentBits.GuildMembers)) return;
  const found = request.user_ids
    ? request.user_ids.flatMap((id) => guild.members.get(id) ?? [])
    : byName([...guild.members.values()], request.query ?? '', request.limit ?? 0);
  const missing = (request.user_ids ?? []).filter((id) => !guild.members.has(id));
  const count = Math.max(1, Math.ceil(found.length / CHUNK));
  for (let index = 0; index < count; index += 1) {
    const payload = {
      guild_id: guild.id,
      members: found.slice(index * CHUNK, (index + 1) * CHUNK).map(memberPayload),
      chunk_index: index,
      chunk_count: count,
      ...(missing.length > 0 ? { not_found: missing } : {}),
      ...(request.nonce === undefined ? {} : { nonce: request.nonce }),
    };
    session.dispatch('GUILD_MEMBERS_CHUNK', JSON.stringify(payload));
  }
}
