import { isQuiet } from '@cinnabar/sdk';
import type { MessageReaction, PartialMessageReaction, PartialUser, User } from 'discord.js';
import { placesOf } from '../agents/permissions.js';
import { modeOf } from '../agents/roster.js';
import type { Relay } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { authorFacts, linkOf, nameOr, namesOf, placeFacts } from '../events/message-event.js';
import { enqueue } from '../intake/respond.js';
import { rulesIn } from '../settings.js';

interface Gathered {
  readonly agent: string;
  readonly first: MessageReaction | PartialMessageReaction;
  readonly by: User | PartialUser;
  /** By their text: a reaction that is removed and added again counts once. */
  readonly lines: Map<string, { readonly authorId: string; readonly text: string }>;
}

/** Queues reactions to agents' messages: all to one message within the guild's `reactionSeconds` together. */
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
