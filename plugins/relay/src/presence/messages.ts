import {
  type Clock,
  type Collection,
  type Commands,
  type FrontDoor,
  isDotMessage,
  isQuiet,
  type Registrar,
  repliesToOwn,
  z,
} from '@cinnabar/sdk';
import { type Client, type Message, MessageType } from 'discord.js';
import { PLUGIN, placesOf } from '../agents/grants.js';
import { modeOf, namedIn, type Roster, type Rosters } from '../agents/roster.js';
import { type RelaySettings, rulesIn } from '../settings.js';
import type { Digests } from './digests.js';

interface ListenParts extends Pick<Registrar, 'on'> {
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

/** Threads of the bot's in which somebody has written. */
export const startedThreads = {
  scope: 'channel',
  version: 1,
  schema: z.object({
    begun: z.boolean(),
    /** The message that was the first, where it was seen. */
    firstId: z.string().optional(),
  }),
} as const;

export interface OwnThreads {
  /** Whether a message is the first that a person writes in a thread that the bot has started. Says so once. */
  isFirst(message: Message<true>): Promise<boolean>;
  /** Whether that was said of the message. */
  wasFirst(message: Message): Promise<boolean>;
}

const LOOKED_AT = 20;

export function createOwnThreads(
  kept: Collection<z.output<typeof startedThreads.schema>, 'channel'>,
  client: Client,
): OwnThreads {
  const judging = new Set<string>();
  const wasQuiet = async ({ channel, id }: Message<true>): Promise<boolean> => {
    // A thread may be older than the agents here.
    const before = await channel.messages.fetch({ before: id, limit: LOOKED_AT });
    return before.every(({ author, system }) => author.bot || system);
  };
  return {
    async isFirst(message) {
      const { channel, channelId } = message;
      if (!channel.isThread() || channel.ownerId !== client.user?.id || judging.has(channelId)) return false;
      judging.add(channelId);
      try {
        if ((await kept.of(channelId).find()) !== undefined) return false;
        const first = await wasQuiet(message);
        await kept.of(channelId).set({ begun: true, ...(first ? { firstId: message.id } : {}) });
        return first;
      } finally {
        judging.delete(channelId);
      }
    },
    wasFirst: async ({ channel, channelId, id }) =>
      channel.isThread() && (await kept.of(channelId).find())?.firstId === id,
  };
}
