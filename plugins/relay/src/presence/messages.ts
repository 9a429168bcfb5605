import { type Collection, createdAt, type FrontDoor, isDotMessage, isQuiet, repliesToOwn, t, z } from '@cinnabar/sdk';
import {
  type Client,
  type Message,
  type MessageReaction,
  MessageType,
  type PartialMessageReaction,
  type PartialUser,
  type User,
} from 'discord.js';
import { PLUGIN, placesOf } from '../agents/permissions.js';
import { modeOf, namedIn, type Roster } from '../agents/roster.js';
import type { Relay } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { authorFacts, linkOf, nameOr, namesOf, placeFacts } from '../events/message-event.js';
import { enqueue } from '../intake/respond.js';
import { rulesIn } from '../settings.js';
import type { Digests } from './digests.js';

/**
 * Hands in messages for agents that do not address the bot: by mode, by the agent's name, and the first in a thread of the bot. In guilds without enabled
 * agents, a message costs one look-up.
 */
export function listenForMessages(relay: Relay, frontDoor: FrontDoor, digests: Digests): void {
  const { on, client, clock, commands, rosters, settings, ownThreads, whySilent } = relay;

  const route = async (message: Message<true>, roster: Roster): Promise<unknown> => {
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

  whySilent(async (message) => {
    const roster = rosters.enabled(message.guildId);
    if (roster === undefined || !message.inGuild() || !isByMember(message)) return [];
    if ((await frontDoor.responderIn(message.guildId, message.channelId)) !== PLUGIN) return [];
    if (message.mentions.users.has(client.user?.id ?? '') || repliesToOwn(message)) return [];
    const rules = await rulesIn(settings, message.guildId);
    const isNamed = namedIn(roster, message.content, false) !== undefined;
    return silenceReasons(modeOf(roster, placesOf(message.channel)), isNamed, {
      answersToName: rules.answerToName,
      wasQuiet: isQuiet(createdAt(message.id), rules),
    });
  });

  on('messageCreate', (message) => {
    const roster = rosters.enabled(message.guildId);
    if (roster === undefined || !message.inGuild() || !isByMember(message)) return undefined;
    const botId = client.user?.id ?? '';
    // `ai` handles these.
    if (message.mentions.users.has(botId) || repliesToOwn(message)) return undefined;
    return mayConcernAgents(message, roster, botId) ? route(message, roster) : undefined;
  });
}

/** For `!why`: why a message that does not address the bot was not delivered to an agent, according to the current settings. */
function silenceReasons(
  mode: ReturnType<typeof modeOf>,
  isNamed: boolean,
  { answersToName, wasQuiet }: { readonly answersToName: boolean; readonly wasQuiet: boolean },
): readonly string[] {
  if (mode === 'off') return [t('Nothing reaches the agents from this channel: its mode is `off` (`relay mode`).')];
  const ofName = answersToName
    ? isNamed
      ? [t('It names an agent, so it is brought to them by the settings of now.')]
      : [t('It does not name an agent.')]
    : [t('A name alone does not bring a message to the agents here: `answerToName` of `relay` is off.')];
  if (mode === 'mention') return [t('The agents here hear only what is said to me (`relay mode`).'), ...ofName];
  if (mode === 'digest')
    return [t('The agents here read what is not said to me later, as a summary (`relay mode`).'), ...ofName];
  return wasQuiet
    ? [t('It was written in the quiet hours of `relay`: then the agents hear only what is said to me.'), ...ofName]
    : [t('It was brought to the agents: whether they answer is their choice.')];
}

/** Whether a person has written the message, and it is no dot message. Messages of bots, including this one, and of webhooks are never events. */
function isByMember({ author, webhookId, type, content }: Message): boolean {
  if (author.bot || webhookId !== null || isDotMessage(content)) return false;
  return type === MessageType.Default || type === MessageType.Reply;
}

/** A check in memory: whether the message may be for an agent. */
function mayConcernAgents({ channel, content }: Message<true>, roster: Roster, botId: string): boolean {
  const mode = modeOf(roster, placesOf(channel));
  if (mode === 'always' || mode === 'digest') return true;
  return (
    mode === 'mention' &&
    ((channel.isThread() && channel.ownerId === botId) || namedIn(roster, content, false) !== undefined)
  );
}

/** Threads of the bot in which a person has written. */
export const startedThreads = {
  scope: 'channel',
  version: 1,
  schema: z.object({
    begun: z.boolean(),
    /** The first message, if the bot saw it. */
    firstId: z.string().optional(),
  }),
} as const;

const LOOKED_AT = 20;

export type OwnThreads = ReturnType<typeof createOwnThreads>;

export function createOwnThreads(
  stored: Collection<z.output<typeof startedThreads.schema>, 'channel'>,
  client: Client,
) {
  const judging = new Set<string>();
  const wasQuiet = async ({ channel, id }: Message<true>): Promise<boolean> => {
    // Earlier messages are read, because a thread may be older than its record.
    const before = await channel.messages.fetch({ before: id, limit: LOOKED_AT });
    return before.every(({ author, system }) => author.bot || system);
  };
  return {
    /** Whether a message is the first that a person writes in a thread that the bot has started. `true` once per thread. */
    async isFirst(message: Message<true>): Promise<boolean> {
      const { channel, channelId } = message;
      if (!channel.isThread() || channel.ownerId !== client.user?.id || judging.has(channelId)) return false;
      judging.add(channelId);
      try {
        if ((await stored.of(channelId).find()) !== undefined) return false;
        const first = await wasQuiet(message);
        await stored.of(channelId).set({ begun: true, ...(first ? { firstId: message.id } : {}) });
        return first;
      } finally {
        judging.delete(channelId);
      }
    },
    /** Whether `isFirst` returned `true` for the message. */
    wasFirst: async ({ channel, channelId, id }: Message): Promise<boolean> =>
      channel.isThread() && (await stored.of(channelId).find())?.firstId === id,
  };
}

interface Gathered {
  readonly agent: string;
  readonly first: MessageReaction | PartialMessageReaction;
  readonly by: User | PartialUser;
  /** By text, so that a reaction that is removed and added again counts once. */
  readonly lines: Map<string, { readonly authorId: string; readonly text: string }>;
}

/** Queues reactions to agents' messages as one event for each message and `reactionSeconds`. */
export function listenForReactions(relay: Relay): void {
  const { on, after, rosters, settings, authors, clock, log } = relay;
  const gathered = new Map<string, Gathered>();

  const flush = async (messageId: string) => {
    const all = gathered.get(messageId);
    gathered.delete(messageId);
    if (all === undefined) return;
    try {
      await enqueue(await reactionEvent(all, clock.now()), relay);
    } catch (error) {
      log.info('reactions were not queued for an agent', { messageId, error });
    }
  };

  on('messageReactionAdd', async (reaction, user) => {
    const { id, guildId, channelId, channel } = reaction.message;
    const roster = rosters.enabled(guildId);
    if (roster === undefined || user.bot === true || modeOf(roster, placesOf(channel)) === 'off') return;
    const agent = await authors.agentOf(channelId, id);
    if (agent === undefined) return;
    const rules = await rulesIn(settings, guildId);
    if (!rules.reactionEvents || isQuiet(clock.now(), rules)) return;
    const line = { authorId: user.id, text: await lineOf(reaction, user) };
    const known = gathered.get(id);
    if (known !== undefined) known.lines.set(line.text, line);
    else {
      gathered.set(id, { agent, first: reaction, by: user, lines: new Map([[line.text, line]]) });
      after(rules.reactionSeconds * 1000, () => flush(id));
    }
  });
}

async function lineOf(reaction: MessageReaction | PartialMessageReaction, user: User | PartialUser): Promise<string> {
  const person = await user.fetch(false);
  const member = reaction.message.guild?.members.cache.get(user.id);
  const name = nameOr(member?.displayName ?? person.displayName, person.username, person.id);
  const { name: emoji, id } = reaction.emoji;
  return `${name} (User ID: ${user.id}) reacted with ${id === null ? emoji : `:${emoji}: (custom emoji ${id})`}`;
}

async function reactionEvent({ agent, first, by, lines }: Gathered, now: number): Promise<RelayEvent> {
  const message = await first.message.fetch();
  const user = await by.fetch(false);
  return {
    id: `reaction:${message.id}:${now}`,
    kind: 'reaction',
    agent,
    guildId: message.guildId,
    channelId: message.channelId,
    userId: user.id,
    facts: {
      at: now,
      author: authorFacts(user, message.guild?.members.cache.get(user.id) ?? null),
      ...placeFacts(message.channel, message.guild),
      messageId: message.id,
      content: '',
      lines: [...lines.values()],
      chain: [linkOf(message, namesOf([message]))],
      attachments: [],
    },
  };
}
