import { type Disposer, isDotMessage, isOwnMessage, type Registrar, repliesToOwn, sanitizeName } from '@cinnabar/sdk';
import { type GuildMember, type Message, MessageType } from 'discord.js';
import type { PersonaContext } from '../context.js';
import { selfName } from '../running/run-context.js';
import { livesIn, runUnasked } from './unasked-runs.js';

/** A listener that costs nothing while no guild wants it. */
export interface Watcher {
  watch(isWanted: boolean): Promise<void>;
}

function createWatcher(start: () => Disposer): Watcher {
  let stop: Disposer | undefined;
  return {
    async watch(isWanted) {
      if (isWanted === (stop !== undefined)) return;
      const before = stop;
      stop = isWanted ? start() : undefined;
      await before?.();
    },
  };
}

const REMEMBERED = 200;

/**
 * Notices new members, in the home channel. Discord sends an event, where the bot may receive it (a privileged intent, which this plugin
 * does not ask for), and a message in the guild's system channel.
 */
export function noticeJoins({ on }: Pick<Registrar, 'on'>, persona: PersonaContext): Watcher {
  const noticed = new Set<string>();

  const notice = async (member: GuildMember) => {
    const { guild, user } = member;
    const key = `${guild.id}:${user.id}:${member.joinedTimestamp}`;
    if (user.bot || noticed.has(key)) return;
    noticed.add(key);
    for (const oldest of noticed.size > REMEMBERED ? [...noticed].slice(0, 1) : []) noticed.delete(oldest);
    const settings = await persona.settingsFor(guild.id);
    if (!settings.onJoin || settings.home === undefined) return;
    const home = guild.channels.cache.get(settings.home);
    if (home?.isSendable() !== true || !(await livesIn(home, persona))) return;
    if (!(await persona.allowance.take(guild.id, settings))) return;
    const name = sanitizeName(member.displayName) || sanitizeName(user.username) || 'someone';
    const contact = { userId: user.id, name };
    await runUnasked(
      { type: 'member_joined', content: `${name} has joined.`, at: persona.clock.now(), member: contact },
      home,
      persona,
    );
  };

  on('guildMemberAdd', notice);
  return createWatcher(() =>
    on('messageCreate', (message) =>
      message.type === MessageType.UserJoin && message.member !== null ? notice(message.member) : undefined,
    ),
  );
}

/** Notices what people think of what the persona has said. */
export function noticeReactions({ on }: Pick<Registrar, 'on'>, persona: PersonaContext): void {
  on('messageReactionAdd', async ({ message, emoji }, user) => {
    const { guildId, channelId, channel } = message;
    if (guildId === null || user.bot === true || !channel.isSendable()) return;
    // Most reactions are to what people say: those cost no look at the settings.
    if (message.author != null && !isOwnMessage(message)) return;
    const settings = await persona.settingsFor(guildId);
    if (!settings.onReaction) return;
    const { lines } = await persona.conversations.read(channelId);
    const line = lines.find(({ userId, messageIds }) => userId === null && messageIds.includes(message.id));
    if (line === undefined || !(await livesIn(channel, persona))) return;
    if (!(await persona.allowance.take(guildId, settings))) return;
    const member = message.guild?.members.cache.get(user.id);
    const name = sanitizeName(member?.displayName ?? user.displayName ?? '') || 'someone';
    const trigger = {
      type: 'reaction',
      content: line.text,
      at: persona.clock.now(),
      by: { userId: user.id, name },
      emoji: (emoji.name ?? 'an emoji').slice(0, 40),
      messageId: message.id,
    } as const;
    await runUnasked(trigger, channel, persona);
  });
}

/** Answers messages that call the persona by its name, where a guild has chosen that and the persona answers. */
export function answerToName({ on }: Pick<Registrar, 'on'>, persona: PersonaContext): Watcher {
  const look = async (message: Message) => {
    const { channel, client, guildId, author, content } = message;
    if (guildId === null || author.bot || message.webhookId !== null || !channel.isSendable()) return;
    if (isDotMessage(content) || message.mentions.users.has(client.user.id)) return;
    // Replies to the bot are for it already.
    if (repliesToOwn(message) || persona.commands.matches(message)) return;
    if (!(await persona.settingsFor(guildId)).answersToName || !(await livesIn(channel, persona))) return;
    const { state } = await persona.store.read({ guildId, channelId: channel.id });
    if (!callsBy(selfName(state.name, channel), content)) return;
    await persona.frontDoor?.take(message, { trigger: 'name', responder: 'persona' });
  };
  return createWatcher(() => on('messageCreate', look));
}

/**
 * Whether a text addresses the persona: by the name at its beginning, after a greeting, or behind a comma at its end. A name within a sentence is talked of.
 * @example callsBy('Judy', 'hey Judy, are you there?') // true
 */
export function callsBy(name: string, text: string): boolean {
  const plain = sanitizeName(name).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (plain === '') return false;
  const atBeginning = new RegExp(
    `^\\s*(?:(?:hey|hi|hello|ok|okay|yo|dear)[\\s,]+)?@?${plain}\\s*(?:[,:;!?…—-]|$)`,
    'iu',
  );
  const asking = new RegExp(
    `^\\s*(?:hey|hi|hello)[\\s,]+${plain}\\b|^\\s*${plain}\\s+(?:can|could|would|will|do|did|are|what|who|when|where|why|how|please|tell)\\b`,
    'iu',
  );
  const atEnd = new RegExp(`,\\s*${plain}\\s*[.!?…]*\\s*$`, 'iu');
  return atBeginning.test(text) || asking.test(text) || atEnd.test(text);
}
