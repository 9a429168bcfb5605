import type { APIInteraction } from 'discord-api-types/v10';
import { broadcast } from '../gateway/dispatch.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalChannel } from '../state/channel.js';
import { type InteractionSource, LocalInteraction } from '../state/interaction.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

/** Interactions that can still be found by their token; the oldest are forgotten. */
const KEPT = 5_000;

/** Starts an interaction; the caller sends its payload with `sendInteraction`. */
export function startInteraction(
  world: World,
  application: LocalApplication,
  user: LocalUser,
  channel: LocalChannel,
  source: InteractionSource,
): LocalInteraction {
  const id = world.nextId();
  const token = Buffer.from(`interaction:${id}:${application.id}`).toString('base64url');
  const interaction = new LocalInteraction(id, token, world.clock, application, user, channel, source);
  world.interactions.set(token, interaction);
  if (world.interactions.size > KEPT) {
    for (const oldest of world.interactions.keys()) {
      world.interactions.delete(oldest);
      break;
    }
  }
  return interaction;
}

/** INTERACTION_CREATE, to the application only; no intent is needed. */
export function sendInteraction(
  world: World,
  interaction: LocalInteraction,
  payload: APIInteraction,
): LocalInteraction {
  const { application, channel } = interaction;
  const { repeat, omitChannel } = world.interactionFaults;
  if (omitChannel) delete payload.channel;
  const scene = { application, ...(channel.guild ? { guild: channel.guild } : {}) };
  world.notify({ type: 'interactionCreate', interaction });
  for (let times = repeat ? 2 : 1; times > 0; times -= 1) broadcast(world, 'INTERACTION_CREATE', scene, payload);
  return interaction;
}
