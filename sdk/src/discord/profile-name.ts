import type { Guild, GuildMember } from 'discord.js';
import type { Clock } from '../clock.js';
import { isConfusable, likenessOf, sanitizeName } from '../text/untrusted.js';

/** Discord's limit for the name of a webhook's message. */
const LONGEST = 80;
/** Names that Discord refuses, because they would pass for its own. */
const REFUSED = /discord|clyde/giu;
/** What members take for something other than an agent. */
const RESERVED = new Set(
  ['everyone', 'here', 'system', 'admin', 'administrator', 'moderator', 'mod', 'owner'].map(likenessOf),
);
const KEPT_MS = 10 * 60_000;
const REMEMBERED = 1_000;
const SEARCHED = 100;

const decided = new WeakMap<Guild['client'], Map<string, { readonly at: number; readonly name: string }>>();

/**
 * The name under which a webhook of the bot may say something in a guild: readable, 1 to 80 characters, without what Discord refuses. The name of
 * a member or a role, one that looks like it, or one that can pass for another one, gets the bot's own name behind it: `alice (Cinnabar)`.
 * Members are searched for at most once a name in ten minutes.
 * @returns `undefined` when nothing usable is left
 */
export async function profileName(
  guild: Guild,
  wanted: string,
  clock: Pick<Clock, 'now'>,
): Promise<string | undefined> {
  const plain = withoutRefused(sanitizeName(wanted));
  if (plain === undefined) return undefined;
  const names = decided.get(guild.client) ?? new Map<string, { at: number; name: string }>();
  decided.set(guild.client, names);
  const key = `${guild.id}\n${plain}`;
  const known = names.get(key);
  if (known !== undefined && clock.now() - known.at < KEPT_MS) return known.name;
  const name = (await isTaken(guild, plain)) ? marked(plain, guild) : plain;
  names.delete(key);
  names.set(key, { at: clock.now(), name });
  for (const oldest of names.keys()) {
    if (names.size <= REMEMBERED) break;
    names.delete(oldest);
  }
  return name;
}

function withoutRefused(name: string): string | undefined {
  let left = name;
  // Taking one out can make another one.
  while (left.search(REFUSED) !== -1) left = left.replace(REFUSED, '');
  left = sanitizeName(left);
  const looks = likenessOf(left);
  const passesForDiscord = ['discord', 'clyde'].some((word) => looks.includes(likenessOf(word)));
  return left === '' || passesForDiscord ? undefined : left;
}

function marked(name: string, guild: Guild): string {
  const own = withoutRefused(sanitizeName(guild.members.me?.displayName ?? guild.client.user.displayName)) ?? 'bot';
  return `${name} (${own})`.slice(0, LONGEST);
}

async function isTaken(guild: Guild, name: string): Promise<boolean> {
  const likeness = likenessOf(name);
  if (isConfusable(name) || RESERVED.has(likeness)) return true;
  const looksAlike = (other: string | null | undefined) => other != null && likenessOf(other) === likeness;
  const isSomeone = ({ id, nickname, user }: GuildMember) =>
    id !== guild.client.user.id && [nickname, user.globalName, user.username].some(looksAlike);
  if (guild.roles.cache.some((role) => looksAlike(role.name)) || guild.members.cache.some(isSomeone)) return true;
  if (guild.memberCount <= guild.members.cache.size) return false;
  try {
    return (await guild.members.search({ query: name, limit: SEARCHED, cache: false })).some(isSomeone);
  } catch {
    // Not known is taken: the mark does no harm.
    return true;
  }
}
