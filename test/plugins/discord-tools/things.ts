import type { LocalChannel, LocalMessage, LocalRole, LocalUser } from '@cinnabar/local-discord';
import type { Harness } from './harness.js';

/** An object of every kind for tools, all in one channel, one forum and one category. */
export interface Things {
  /** A word in every name and text of the set, and in no other. */
  readonly word: string;
  readonly guildId: string;
  readonly category: LocalChannel;
  readonly channel: LocalChannel;
  /** A message of bob, with 🔥 from bob and from the bot. */
  readonly message: LocalMessage;
  /** Id of a message sent with `discord_send` for the owner. */
  readonly sent: string;
  /** Started by bob. */
  readonly thread: LocalChannel;
  readonly forum: LocalChannel;
  /** A forum post of bob. */
  readonly post: LocalChannel;
  /** A webhook of the bot in the channel. */
  readonly webhook: string;
  /** A role of a low position, which `member` has, and for which the channel has an overwrite. */
  readonly role: LocalRole;
  readonly member: LocalUser;
}

let count = 0;

/** Creates a set of objects with a unique word in all names and texts. */
export async function makeThings(harness: Harness): Promise<Things> {
  count += 1;
  const word = `zebra${count}`;
  const { host, guild, owner, bob } = harness;
  const member = host.discord.createUser({ name: `${word}-member` });
  const role = guild.createRole({ name: `${word}-role`, position: 5 });
  guild.join(member, { roles: [role] });
  const category = guild.createChannel({ name: `${word}-category`, type: 'category' });
  const channel = guild.createChannel({ name: `${word}-text`, topic: `about ${word}`, parent: category });
  const forum = guild.createChannel({
    name: `${word}-forum`,
    type: 'forum',
    parent: category,
    availableTags: [{ name: `${word}-tag`, moderated: false, emojiName: null }],
  });
  const message = bob.say(channel, `${word} was here`);
  bob.react(message, '🔥');
  host.bot.react(message, '🔥');
  const thread = bob.startThread(channel, `${word}-thread`, { content: `${word} in a thread` });
  const post = bob.startThread(forum, `${word}-post`, { content: `${word} in a forum` });
  guild.overwrite(channel, { for: role, allow: ['EmbedLinks'] });
  await host.settled();
  const made = await harness.call(owner, 'discord_create_webhook', { channelId: channel.id, name: `${word} hook` });
  const sent = await harness.call(owner, 'discord_send', { channelId: channel.id, message: `${word} says the bot` });
  return {
    word,
    guildId: guild.id,
    category,
    channel,
    message,
    sent: firstId(sent.text),
    thread,
    forum,
    post,
    webhook: firstId(made.text),
    role,
    member,
  };
}

/** The first id in a text that is not part of a mention. */
export function firstId(text: string): string {
  const id = /(?<![<#@&!\d])\d{16,20}(?!\d|>)/.exec(text)?.[0];
  if (id === undefined) throw new Error(`there is no id in: ${text}`);
  return id;
}
