import { type Clock, type Commands, type FrontDoor, isDotMessage, type Registrar, repliesToOwn } from '@cinnabar/sdk';
import { type Client, type Message, MessageType } from 'discord.js';
import { namedIn } from '../agents/choose.js';
import { PLUGIN } from '../agents/identity.js';
import { placesOf } from '../agents/places.js';
import { modeOf, type Roster, type Rosters } from '../agents/roster.js';
import { type RelaySettings, rulesIn } from '../settings.js';
import type { Digests } from './digests.js';
import { isQuiet } from './local-time.js';
import type { OwnThreads } from './own-threads.js';

export interface ListenParts extends Pick<Registrar, 'on'> {
  readonly client: Client;
  readonly clock: Clock;
  readonly commands: Commands;
  readonly frontDoor: FrontDoor;
  readonly rosters: Rosters;
  readonly settings: RelaySettings;
  readonly digests: Digests;
  readonly ownThreads: OwnThreads;
}

/** Hands in what is for an agent though nobody has said it to the bot. Where no agents are switched on, a message costs one look-up. */
export function listenForMore(parts: ListenParts): void {
  const { on, client, clock, commands, frontDoor, rosters, settings, digests, ownThreads } = parts;

  const judge = async (message: Message<true>, roster: Roster): Promise<unknown> => {
    const mode = modeOf(roster, placesOf(message.channel));
    if (mode === 'off' || commands.matches(message)) return;
    if (await ownThreads.isFirst(message)) return handIn(message, 'random');
    const rules = await rulesIn(settings, message.guildId);
    if (namedIn(roster, message.content, false) !== undefined && rules.answerToName) return handIn(message, 'name');
    if (mode === 'digest') return digests.note(message);
    if (mode === 'always' && !isQuiet(clock.now(), rules)) return handIn(message, 'random');
  };
  const handIn = (message: Message, trigger: 'random' | 'name') =>
    frontDoor.take(message, { trigger, responder: PLUGIN });

  on('messageCreate', (message) => {
    const roster = rosters.enabled(message.guildId);
    if (roster === undefined || !message.inGuild() || !isSaid(message)) return undefined;
    const botId = client.user?.id ?? '';
    // These come by themselves.
    if (message.mentions.users.has(botId) || repliesToOwn(message)) return undefined;
    const asks = mayAsk(message, roster, botId);
    return asks ? judge(message, roster) : undefined;
  });
}

/** By a person, and not past the bots. What the bot itself posts is never an event, nor what other bots and webhooks do. */
function isSaid({ author, webhookId, type, content }: Message): boolean {
  if (author.bot || webhookId !== null || isDotMessage(content)) return false;
  return type === MessageType.Default || type === MessageType.Reply;
}

/** Whether anything can come of it, by what is in memory. */
function mayAsk({ channel, content }: Message<true>, roster: Roster, botId: string): boolean {
  const mode = modeOf(roster, placesOf(channel));
  if (mode === 'always' || mode === 'digest') return true;
  return (
    mode === 'mention' &&
    ((channel.isThread() && channel.ownerId === botId) || namedIn(roster, content, false) !== undefined)
  );
}
