import {
  ActivityType,
  GatewayCloseCodes,
  GatewayIntentBits,
  GatewayOpcodes,
  type GatewayPresenceUpdateData,
  PresenceUpdateStatus,
} from 'discord-api-types/v10';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { GatewayFaults } from '../faults.js';
import { applicationFlags } from '../payload/applications.js';
import { ownUserPayload } from '../payload/users.js';
import type { LocalApplication, PrivilegedIntent } from '../state/applications.js';
import type { World } from '../world.js';
import { ALL_INTENTS, ownsShard, sendGuild } from './dispatch.js';
import { GatewaySession } from './session.js';

const ids = z.union([z.string().transform((id) => [id]), z.array(z.string())]);

/** Discord closes the connection with 4002 for a presence of another shape. */
const presenceData = z.custom<GatewayPresenceUpdateData>(isPresence);

const identifyData = z.object({
  token: z.string(),
  presence: presenceData.optional(),
  intents: z.number(),
  shard: z.tuple([z.number().int(), z.number().int()]).optional(),
});
const resumeData = z.object({ token: z.string(), session_id: z.string(), seq: z.number().int() });
const membersData = z.object({
  guild_id: ids.transform((list) => list[0] ?? ''),
  query: z.string().optional(),
  limit: z.number().int().optional(),
  presences: z.boolean().optional(),
  user_ids: ids.optional(),
  nonce: z.string().optional(),
});

type IdentifyData = z.infer<typeof identifyData>;
type ResumeData = z.infer<typeof resumeData>;
export type RequestMembersData = z.infer<typeof membersData>;

const command = z.discriminatedUnion('op', [
  z.object({ op: z.literal(GatewayOpcodes.Heartbeat), d: z.number().nullish() }),
  z.object({ op: z.literal(GatewayOpcodes.Identify), d: identifyData }),
  z.object({ op: z.literal(GatewayOpcodes.Resume), d: resumeData }),
  z.object({ op: z.literal(GatewayOpcodes.RequestGuildMembers), d: membersData }),
  z.object({ op: z.literal(GatewayOpcodes.PresenceUpdate), d: presenceData }),
  z.object({ op: z.literal(GatewayOpcodes.VoiceStateUpdate), d: z.unknown().optional() }),
]);

export type GatewayCommand = z.infer<typeof command>;

const presenceShape = z.object({
  since: z.number().nullable(),
  status: z.enum(PresenceUpdateStatus),
  afk: z.boolean(),
  activities: z.array(
    z.object({
      name: z.string().min(1).max(128),
      type: z.enum(ActivityType),
      state: z.string().max(128).nullish(),
      url: z.string().nullish(),
    }),
  ),
});

function isPresence(value: unknown): boolean {
  return presenceShape.safeParse(value).success;
}

/** Parses a client's payload; `undefined` for an invalid one. */
export function readCommand(text: string): GatewayCommand | undefined {
  try {
    return command.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const PRIVILEGED: Readonly<Record<PrivilegedIntent, number>> = {
  GuildMembers: GatewayIntentBits.GuildMembers,
  GuildPresences: GatewayIntentBits.GuildPresences,
  MessageContent: GatewayIntentBits.MessageContent,
};

/**
 * Opens a session: sends READY, then GUILD_CREATE for each guild of the shard. Closes the connection with 4004, 4010, 4013 or 4014 when the client is refused;
 * sends op 9 when the shard identified too early.
 */
export function identify(world: World, socket: WebSocket, data: IdentifyData): GatewaySession | undefined {
  const application = applicationByToken(world, data.token);
  const shard = data.shard ?? [0, 1];
  const refusal = refuse(application, data.intents, shard);
  if (!application || refusal !== undefined) {
    socket.close(refusal);
    return undefined;
  }
  const start = world.sessionStarts.take(application.id, shard[0]);
  // Discord resets the token of a bot that identifies again after this.
  if (start === 'too-many') socket.close(GatewayCloseCodes.AuthenticationFailed);
  if (start === 'too-fast') invalid(socket);
  if (start !== 'admitted') return undefined;
  forgetStale(world, application, shard);
  const session = new GatewaySession(`session-${world.nextId()}`, application, data.intents, shard);
  session.socket = socket;
  application.presence = data.presence;
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

/** Accepts a token with the prefix `Bot `, which some clients add. */
function applicationByToken(world: World, token: string): LocalApplication | undefined {
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

/** A shard that identifies again can no longer resume its previous session. */
function forgetStale(world: World, application: LocalApplication, [index]: readonly [number, number]): void {
  for (const session of [...world.sessions]) {
    if (session.application === application && session.shard[0] === index && !session.socket)
      world.sessions.delete(session);
  }
}

/**
 * Resumes a session: sends the missed events, then RESUMED. Sends op 9 when the session is unknown or too many events were missed; closes with 4007 for a
 * sequence number that was never sent.
 */
export function resume(
  world: World,
  faults: GatewayFaults,
  socket: WebSocket,
  data: ResumeData,
  onReplayed: (events: number) => void,
): GatewaySession | undefined {
  const application = applicationByToken(world, data.token);
  if (!application) {
    socket.close(GatewayCloseCodes.AuthenticationFailed);
    return undefined;
  }
  const session = [...world.sessions].find((one) => one.id === data.session_id && one.application === application);
  if (!session || faults.refuseResume) return invalid(socket);
  if (session.leftAt !== undefined && world.clock.now() - session.leftAt > world.sessionLifetimeMs) {
    world.sessions.delete(session);
    return invalid(socket);
  }
  if (data.seq > session.sequence) {
    socket.close(GatewayCloseCodes.InvalidSeq);
    return undefined;
  }
  // A session has only one connection.
  session.socket?.close(GatewayCloseCodes.UnknownError, 'The session was resumed elsewhere.');
  session.socket = socket;
  session.leftAt = undefined;
  const missed = session.sequence - data.seq;
  if (!session.replay(data.seq)) {
    world.sessions.delete(session);
    return invalid(socket);
  }
  onReplayed(missed);
  session.dispatch('RESUMED', '{}');
  world.notify({ type: 'connect', application, shard: session.shard[0] });
  return session;
}

function invalid(socket: WebSocket): undefined {
  socket.send(JSON.stringify({ op: GatewayOpcodes.InvalidSession, d: false }));
}
