import { canView } from '../rules/permissions.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalGuild } from '../state/guild.js';
import type { World } from '../state/world.js';
import type { Dispatches, DispatchName } from './events.js';
import { intentsAdmit } from './intents.js';
import type { GatewaySession } from './session.js';

/** Where an event happens, which decides who hears of it. */
export type Scene =
  | { guild: LocalGuild }
  | { channel: LocalChannel }
  | { application: LocalApplication; guild?: LocalGuild };

/** The sessions that hear of an event there: right bot, right shard, right intents, and the channel visible to it. */
export function audience(world: World, event: DispatchName, scene: Scene): GatewaySession[] {
  const heard: GatewaySession[] = [];
  for (const session of world.sessions) if (hears(world, session, event, scene)) heard.push(session);
  return heard;
}

function hears(world: World, session: GatewaySession, event: DispatchName, scene: Scene): boolean {
  const guild = 'channel' in scene ? scene.channel.guild : scene.guild;
  if (!ownsShard(session, guild) || !intentsAdmit(session.intents, event, guild !== undefined)) return false;
  if ('application' in scene) return session.application === scene.application;
  const { user } = session.application;
  if ('channel' in scene) return canView(scene.channel, user, world.clock.now());
  return scene.guild.members.has(user.id);
}

/** `(guild_id >> 22) % count`; everything without a guild goes to shard 0. */
export function ownsShard(session: GatewaySession, guild: LocalGuild | undefined): boolean {
  const [index, count] = session.shard;
  if (count === 1) return true;
  if (!guild) return index === 0;
  return Number((BigInt(guild.id) >> 22n) % BigInt(count)) === index;
}

/** Sends one payload to everybody who hears of it. */
export function broadcast<T extends DispatchName>(world: World, event: T, scene: Scene, payload: Dispatches[T]): void {
  let json: string | undefined;
  for (const session of audience(world, event, scene)) {
    json ??= JSON.stringify(payload);
    session.dispatch(event, json);
  }
}

/** Sends each bot its own version: for payloads that say `me`, or that show a channel from one side. */
export function broadcastEach<T extends DispatchName>(
  world: World,
  event: T,
  scene: Scene,
  payloadFor: (application: LocalApplication) => Dispatches[T],
): void {
  for (const session of audience(world, event, scene)) {
    session.dispatch(event, JSON.stringify(payloadFor(session.application)));
  }
}
