import { type Access, type CommandContext, t, UserError } from '@cinnabar/sdk';
import { GuildMember } from 'discord.js';

/** Matches a placeholder: name, kind after a colon, field after a dot. */
const PLACE = /\{(\d{1,2}|[a-z]+)(?::([a-zA-Z]+))?(?:\.([a-z_]+))?\}/gu;
const LONGEST = 4_000;
/** Number of typed words that placeholders can refer to. */
const MOST_ARGUMENTS = 20;

type Fields = Readonly<Record<string, string | undefined>>;

/**
 * The text of a custom command with its placeholders replaced: `{0}`, `{1:int}`, `{rest}`, `{author.mention}`, `{channel.name}`, `{server}`. An unknown
 * placeholder is kept. Inserted text is not searched for placeholders again.
 * @throws UserError when an argument is missing or of another kind
 */
export async function fillAnswer(
  access: Pick<Access, 'mayEnter'>,
  template: string,
  ctx: CommandContext,
  typed: string,
): Promise<string> {
  const words =
    typed
      .match(/"[^"]*"|\S+/gu)
      ?.slice(0, MOST_ARGUMENTS)
      .map((word) => word.replace(/^"(.*)"$/u, '$1')) ?? [];
  const valueAt = ([place, name = '', kind, field]: RegExpMatchArray): string | Promise<string> => {
    if (/^\d+$/u.test(name)) return argument(access, Number(name), kind, field, words, ctx);
    if (name === 'rest' || name === 'args') return typed;
    return fieldsOf(name, ctx)?.[field ?? ''] ?? place;
  };
  const values: string[] = [];
  for (const match of template.matchAll(PLACE)) values.push(await valueAt(match));
  return template.replace(PLACE, () => values.shift() ?? '').slice(0, LONGEST);
}

async function argument(
  access: Pick<Access, 'mayEnter'>,
  index: number,
  kind: string | undefined,
  field: string | undefined,
  words: readonly string[],
  ctx: CommandContext,
): Promise<string> {
  const word = words[index];
  if (word === undefined) {
    throw new UserError(
      t('Something is missing: this command takes {count, plural, one {# word} other {# words}} after its name.', {
        count: index + 1,
      }),
    );
  }
  switch (kind?.toLowerCase()) {
    case undefined:
    case 'str':
      return field === undefined ? word : (memberFields(word, ctx)?.[field] ?? word);
    case 'int':
      if (!/^[+-]?\d{1,15}$/u.test(word)) throw wrong(index, t('a whole number'));
      return word;
    case 'float':
    case 'number':
      if (!/^[+-]?\d{1,15}(?:\.\d+)?$/u.test(word)) throw wrong(index, t('a number'));
      return word;
    case 'member':
    case 'user': {
      const fields = memberFields(word, ctx);
      if (fields === undefined) throw wrong(index, t('a member of this server'));
      return fields[field ?? ''] ?? word;
    }
    case 'textchannel':
    case 'channel': {
      const id = /^(?:<#)?(\d{15,21})>?$/u.exec(word)?.[1];
      const channel = id === undefined ? undefined : ctx.guild?.channels.cache.get(id);
      const isSeen =
        channel !== undefined &&
        (await access.mayEnter(ctx.actor, { guildId: channel.guildId, channelId: channel.id }));
      if (!isSeen) throw wrong(index, t('a channel'));
      return { '': channel.name, name: channel.name, mention: `<#${channel.id}>`, id: channel.id }[field ?? ''] ?? word;
    }
    default:
      return word;
  }
}

function wrong(index: number, what: string): UserError {
  return new UserError(t('Word {number} has to be {what}.', { number: index + 1, what }));
}

function memberFields(word: string, { guild }: CommandContext): Fields | undefined {
  const id = /^(?:<@!?)?(\d{15,21})>?$/u.exec(word)?.[1];
  const member = id === undefined ? undefined : guild?.members.cache.get(id);
  return member === undefined ? undefined : personFields(member);
}

function fieldsOf(name: string, { member, user, channel, guild, message }: CommandContext): Fields | undefined {
  switch (name) {
    case 'author':
    case 'member':
    case 'user':
      return personFields(member ?? user);
    case 'channel': {
      const own = 'name' in channel ? (channel.name ?? '') : '';
      return { '': own, name: own, mention: `<#${channel.id}>`, id: channel.id };
    }
    case 'guild':
    case 'server':
      return { '': guild?.name, name: guild?.name, id: guild?.id, member_count: String(guild?.memberCount ?? 0) };
    case 'message':
      return { '': message?.content, content: message?.content, id: message?.id, jump_url: message?.url };
    default:
      return undefined;
  }
}

function personFields(who: GuildMember | CommandContext['user']): Fields {
  const user = who instanceof GuildMember ? who.user : who;
  const name = who.displayName;
  return {
    '': name,
    name: user.username,
    display_name: name,
    displayname: name,
    nick: name,
    global_name: user.displayName,
    mention: `<@${user.id}>`,
    id: user.id,
    avatar: who.displayAvatarURL(),
    avatar_url: who.displayAvatarURL(),
    created_at: `<t:${Math.floor(user.createdTimestamp / 1_000)}:D>`,
    ...(who instanceof GuildMember && who.joinedTimestamp !== null
      ? { joined_at: `<t:${Math.floor(who.joinedTimestamp / 1_000)}:D>` }
      : {}),
  };
}
