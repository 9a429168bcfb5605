import { type Actor, type Llm, type Responders, UserError } from '@cinnabar/sdk';
import type { Channel } from 'discord.js';
import type { ChannelQueue } from './channel-queue.js';
import { type Route, routeOf } from './routing.js';
import type { AiSettings } from './settings.js';

/** Chooses the channel's or the guild's default again. */
export const DEFAULT_WORD = 'default';

export interface Choosing {
  readonly settings: AiSettings;
  readonly responders: Responders;
  readonly queue: ChannelQueue;
  readonly llm: Llm | undefined;
}

export interface Choice {
  /** A responder, `default`, or nothing to list them. */
  readonly responder: string | undefined;
  /** For this channel alone. */
  readonly here: boolean;
}

/** Carries out `ai use` and says what holds now. @throws UserError when there is no such responder here */
export async function chooseResponder(
  parts: Choosing,
  actor: Actor,
  channel: Channel,
  choice: Choice,
): Promise<string> {
  const { settings, responders } = parts;
  if (choice.responder === undefined) return listResponders(parts, actor, channel);
  const known = responders.list(actor.guildId).map(({ name }) => name);
  const responder = choice.responder === DEFAULT_WORD ? undefined : choice.responder;
  if (responder !== undefined && !known.includes(responder)) {
    throw new UserError(`There is no responder called "${responder}" here. There ${listed(known)}.`);
  }
  if (actor.guildId === null) return chooseDirect(parts, actor, channel, responder);
  const scope = choice.here ? settings.channel(channel.id) : undefined;
  if (responder === undefined)
    await (scope?.reset('channelResponder') ?? settings.guild(actor.guildId).reset('responder'));
  else await (scope?.set({ channelResponder: responder }) ?? settings.guild(actor.guildId).set({ responder }));
  const place = choice.here ? 'in this channel' : 'in this server';
  const route = await routeOf(settings, channel, actor.guildId);
  if (responder !== undefined && responder !== route.responder) {
    return `\`${responder}\` answers ${place} now, but this channel has its own choice: \`${route.responder}\`.`;
  }
  return `\`${route.responder}\` answers ${place} now.`;
}

/** Everybody chooses for their own direct messages. */
async function chooseDirect({ settings }: Choosing, actor: Actor, channel: Channel, responder: string | undefined) {
  const own = settings.user(actor.userId);
  await (responder === undefined ? own.reset('directResponder') : own.set({ directResponder: responder }));
  const route = await routeOf(settings, channel, null);
  return `\`${route.responder}\` answers your direct messages now.`;
}

/** Carries out `ai status`. */
export async function describeStatus(parts: Choosing, actor: Actor, channel: Channel): Promise<string> {
  const route = await routeOf(parts.settings, channel, actor.guildId);
  const info = parts.responders.list(actor.guildId).find(({ name }) => name === route.responder);
  const model = parts.llm?.current;
  const own = channel.isSendable()
    ? await parts.responders.status(route.responder, {
        actor,
        channel,
        guild: 'guild' in channel ? channel.guild : null,
      })
    : undefined;
  const waiting = parts.queue.waiting(channel.id);
  return [
    `Responder: \`${route.responder}\` (${CHOSEN_BY[route.chosen]}): ${info?.description ?? 'not available here at the moment'}`,
    ...(own ?? [`Model: ${model === undefined ? 'none is set up' : `\`${model.model}\` by \`${model.provider}\``}`]),
    ...(waiting > 0 ? [`Waiting in this channel: ${waiting}`] : []),
  ].join('\n');
}

const CHOSEN_BY: Readonly<Record<Route['chosen'], string>> = {
  channel: 'chosen for this channel',
  guild: 'chosen for this server',
  user: 'your choice',
  default: 'the default',
};

async function listResponders({ settings, responders }: Choosing, actor: Actor, channel: Channel): Promise<string> {
  const route = await routeOf(settings, channel, actor.guildId);
  const lines = responders
    .list(actor.guildId)
    .map(
      ({ name, description }) => `• \`${name}\`: ${description}${name === route.responder ? ' (answers here)' : ''}`,
    );
  return ['Responders that can answer here:', ...lines].join('\n');
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'is none at the moment' : `${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`;
}
