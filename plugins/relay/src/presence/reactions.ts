import { type Clock, isQuiet, type Logger, type Registrar } from '@cinnabar/sdk';
import type { MessageReaction, PartialMessageReaction, PartialUser, User } from 'discord.js';
import { placesOf } from '../agents/grants.js';
import type { Posts } from '../agents/message-authors.js';
import { modeOf, type Rosters } from '../agents/roster.js';
import { authorFacts, nameOr, namesOf, placeFacts } from '../events/facts.js';
import { linkOf } from '../events/message-event.js';
import { type RelaySettings, rulesIn } from '../settings.js';
import type { RelayEvent } from '../types.js';

export interface ReactionParts extends Pick<Registrar, 'on' | 'after'> {
  readonly rosters: Rosters;
  readonly settings: RelaySettings;
  readonly posts: Posts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly offer: (event: RelayEvent) => Promise<unknown>;
}

interface Gathered {
  readonly agent: string;
  readonly first: MessageReaction | PartialMessageReaction;
  readonly by: User | PartialUser;
  /** By their text: who takes a reaction back and gives it again has reacted once. */
  readonly lines: Map<string, { readonly authorId: string; readonly text: string }>;
}

/** Tells agents of reactions to their messages: all of a message within a while together. Others' messages cost a look-up or two. */
export function listenForReactions(parts: ReactionParts): void {
  const { on, after, rosters, settings, posts, clock, log, offer } = parts;
  const gathered = new Map<string, Gathered>();

  const tell = async (messageId: string) => {
    const all = gathered.get(messageId);
    gathered.delete(messageId);
    if (all === undefined) return;
    try {
      await offer(await reactionEvent(all, clock.now()));
    } catch (error) {
      log.info('an agent was not told of reactions', { messageId, error });
    }
  };

  on('messageReactionAdd', async (reaction, user) => {
    const { id, guildId, channelId, channel } = reaction.message;
    const roster = rosters.enabled(guildId);
    if (roster === undefined || user.bot === true || modeOf(roster, placesOf(channel)) === 'off') return;
    const agent = await posts.agentOf(channelId, id);
    if (agent === undefined) return;
    const rules = await rulesIn(settings, guildId);
    if (!rules.reactionEvents || isQuiet(clock.now(), rules)) return;
    const line = { authorId: user.id, text: await lineOf(reaction, user) };
    const known = gathered.get(id);
    if (known !== undefined) known.lines.set(line.text, line);
    else {
      gathered.set(id, { agent, first: reaction, by: user, lines: new Map([[line.text, line]]) });
      after(rules.reactionSeconds * 1000, () => tell(id));
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
