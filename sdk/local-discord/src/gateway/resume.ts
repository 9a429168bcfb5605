import { GatewayCloseCodes, GatewayOpcodes } from 'discord-api-types/v10';
import type { WebSocket } from 'ws';
import type { GatewayFaults } from '../faults/gateway-faults.js';
import type { World } from '../state/world.js';
import { applicationByToken } from './identify.js';
import type { ResumeData } from './read-command.js';
import type { GatewaySession } from './session.js';

/** Takes a session up again: what was missed, then RESUMED. Op 9 when it is unknown or too much was missed, 4007 from the future. */
export function resume(
  world: World,
  faults: GatewayFaults,
  socket: WebSocket,
  data: ResumeData,
): GatewaySession | undefined {
  const application = applicationByToken(world, data.token);
  if (!application) {
    socket.close(GatewayCloseCodes.AuthenticationFailed);
    return undefined;
  }
  const session = [...world.sessions].find((one) => one.id === data.session_id && one.application === application);
  if (!session || faults.refuseResume) return invalid(socket);
  if (data.seq > session.sequence) {
    socket.close(GatewayCloseCodes.InvalidSeq);
    return undefined;
  }
  session.socket?.terminate();
  session.socket = socket;
  if (!session.replay(data.seq)) {
    world.sessions.delete(session);
    return invalid(socket);
  }
  session.dispatch('RESUMED', '{}');
  world.notify({ type: 'connect', application, shard: session.shard[0] });
  return session;
}

function invalid(socket: WebSocket): undefined {
  socket.send(JSON.stringify({ op: GatewayOpcodes.InvalidSession, d: false }));
}
