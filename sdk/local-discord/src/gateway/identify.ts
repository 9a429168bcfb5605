import { GatewayCloseCodes, GatewayIntentBits } from 'discord-api-types/v10';
import type { WebSocket } from 'ws';
import { sendGuild } from '../actions/guild-events.js';
import { applicationFlags } from '../payload/application.js';
import { ownUserPayload } from '../payload/user.js';
import type { LocalApplication, PrivilegedIntent } from '../state/application.js';
import type { World } from '../state/world.js';
import { ownsShard } from './dispatch.js';
import { ALL_INTENTS } from './intents.js';
import type { IdentifyData } from './read-command.js';
import { GatewaySession } from './session.js';

const PRIVILEGED: Readonly<Record<PrivilegedIntent, number>> = {
  GuildMembers: GatewayIntentBits.GuildMembers,
  GuildPresences: GatewayIntentBits.GuildPresences,
  MessageContent: GatewayIntentBits.MessageContent,
};

/** Opens a session: READY, then a GUILD_CREATE for each guild of the shard. Closes 4004, 4010, 4013 or 4014 instead when it must. */
export function identify(world: World, socket: WebSocket, data: IdentifyData): GatewaySession | undefined {
  const application = applicationByToken(world, data.token);
  const shard = data.shard ?? [0, 1];
  const refusal = refuse(application, data.intents, shard);
  if (!application || refusal !== undefined) {
    socket.close(refusal);
    return undefined;
  }
  forgetStale(world, application, shard);
  const session = new GatewaySession(`session-${world.nextId()}`, application, data.intents, shard);
  session.socket = socket;
  world.sessions.add(session);
  const guilds = [...world.guilds.values()].filter(
    (guild) => guild.members.has(application.id) && ownsShard(session, guild),
  );
  const ready = {
    v: 10,
    user: ownUserPayload(application.user),
    guilds: guilds.map((guild) => ({ id: guild.id, unavailable: true })),
    session_id: session.id,
    resume_gateway_url: world.addresses.gateway,
    shard,
    application: { id: application.id, flags: applicationFlags(application) },
  };
  session.dispatch('READY', JSON.stringify(ready));
  if (session.intents & GatewayIntentBits.Guilds) for (const guild of guilds) sendGuild(session, guild);
  world.notify({ type: 'connect', application, shard: shard[0] });
  return session;
}

/** Also with the `Bot ` that some clients put before it. */
export function applicationByToken(world: World, token: string): LocalApplication | undefined {
  const bare = token.replace(/^Bot /, '');
  return [...world.applications.values()].find((application) => application.token === bare);
}

function refuse(
  application: LocalApplication | undefined,
  intents: number,
  shard: readonly [number, number],
): GatewayCloseCodes | undefined {
  if (!application) return GatewayCloseCodes.AuthenticationFailed;
  const [index, count] = shard;
  if (index < 0 || index >= count) return GatewayCloseCodes.InvalidShard;
  if (!Number.isInteger(intents) || intents < 0 || (intents & ~ALL_INTENTS) !== 0)
    return GatewayCloseCodes.InvalidIntents;
  for (const name of ['GuildMembers', 'GuildPresences', 'MessageContent'] as const) {
    if (intents & PRIVILEGED[name] && !application.privilegedIntents.has(name))
      return GatewayCloseCodes.DisallowedIntents;
  }
  return undefined;
}

/** A shard that identifies anew gives up what it could have resumed. */
function forgetStale(world: World, application: LocalApplication, [index]: readonly [number, number]): void {
  for (const session of [...world.sessions]) {
    if (session.application === application && session.shard[0] === index && !session.socket)
      world.sessions.delete(session);
  }
}
