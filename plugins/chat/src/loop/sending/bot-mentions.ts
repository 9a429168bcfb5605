import type { GuildMember, SendableChannels } from 'discord.js';

/** Mentions in code are text. */
const CODE = /(```[\s\S]*?```|`[^`\n]*`)/;
const MENTION = /<@!?(\d{1,20})>/g;
/** Letters, digits and what else a name goes on with. */
const WORD = '[\\p{L}\\p{N}_]';
/** The most bots that one message pings; a message that names more pings none. */
const MOST = 10;

/** Mentions of other bots in what a model writes: it reads them as `@Name`, and writes them so. People are pinged by nothing that a model writes. */
export interface BotMentions {
  /** The text with `@Name` of a bot as Discord writes a mention; a name that several members have stays as it is. */
  written(text: string): string;
  /** Ids of the bots that a message mentions. */
  mentionedIn(content: string): readonly string[];
}

/** Of the bots that can see the channel. */
export function botMentions(channel: SendableChannels): BotMentions {
  if (channel.isDMBased()) return { written: (text) => text, mentionedIn: () => [] };
  const { members } = channel.guild;
  const isThere = (member: GuildMember) =>
    member.user.bot && member.id !== channel.client.user.id && channel.permissionsFor(member).has('ViewChannel');

  const named = (): ReadonlyMap<string, string> => {
    const byName = new Map<string, GuildMember[]>();
    for (const member of members.cache.values()) {
      for (const name of new Set([member.displayName.toLowerCase(), member.user.username.toLowerCase()]))
        byName.set(name, [...(byName.get(name) ?? []), member]);
    }
    return new Map(
      [...byName].flatMap(([name, [member, ...others]]) =>
        member !== undefined && others.length === 0 && isThere(member) ? [[name, member.id]] : [],
      ),
    );
  };

  return {
    written(text) {
      if (!text.includes('@')) return text;
      const ids = named();
      if (ids.size === 0) return text;
      const longestFirst = [...ids.keys()].sort((one, other) => other.length - one.length).map(literal);
      const mention = new RegExp(`(?<![<@]|${WORD})@(${longestFirst.join('|')})(?!${WORD})`, 'giu');
      const outside = (part: string) =>
        part.replace(mention, (said, name: string) => {
          const id = ids.get(name.toLowerCase());
          return id === undefined ? said : `<@${id}>`;
        });
      return text
        .split(CODE)
        .map((part, index) => (index % 2 === 0 ? outside(part) : part))
        .join('');
    },
    mentionedIn(content) {
      const ids = new Set([...content.matchAll(MENTION)].flatMap(([, id]) => id ?? []));
      const bots = [...ids].filter((id) => {
        const member = members.cache.get(id);
        return member !== undefined && isThere(member);
      });
      return bots.length > MOST ? [] : bots;
    },
  };
}

function literal(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
