import { GatewayCloseCodes, GatewayOpcodes } from 'discord-api-types/v10';
import type { RawData, WebSocket } from 'ws';
import type { GatewayFaults } from '../faults/gateway-faults.js';
import type { World } from '../state/world.js';
import type { ConnectionAttempt } from './connection-log.js';
import { identify } from './identify.js';
import { sendMemberChunks } from './member-chunks.js';
import { type GatewayCommand, readCommand } from './read-command.js';
import { resume } from './resume.js';
import type { GatewayOptions } from './server.js';
import type { GatewaySession } from './session.js';

/** One WebSocket, from HELLO to its end. */
export function acceptConnection(
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
    else session = obey(world, faults, socket, session, command, attempt);
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', (code) => leave(world, socket, session, code));
  if (faults.take('withholdHello')) return;
  socket.send(JSON.stringify({ op: GatewayOpcodes.Hello, d: { heartbeat_interval: options.heartbeatIntervalMs } }));
}

/** Carries out a client's command; returns the session that the socket then belongs to. */
function obey(
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
      return granted(attempt, 'resume', resume(world, faults, socket, command.d));
    default:
      if (!session) return close(socket, GatewayCloseCodes.NotAuthenticated);
  }
  if (command.op === GatewayOpcodes.RequestGuildMembers) sendMemberChunks(world, session, command.d);
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

/** A client that closes with 1000 or 1001 has logged off; after anything else it may resume. */
function leave(world: World, socket: WebSocket, session: GatewaySession | undefined, code: number): void {
  if (session?.socket !== socket) return;
  session.socket = undefined;
  if (code === 1000 || code === 1001) world.sessions.delete(session);
  world.notify({ type: 'disconnect', application: session.application, shard: session.shard[0] });
}

function text(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}
