import type { Access, Turn } from '@cinnabar/sdk';
import type { MentionNames } from '../../context/types.js';
import type { HistoryMessage } from '../../history/types.js';

/** More channels than these are not looked up for one turn, and have no name in it. */
const MOST_CHANNELS = 25;
const CHANNEL = /<#(\d{1,20})>/g;

/** Who asks, where, and what: a turn is one. */
type Asking = Pick<Turn, 'channel' | 'guild' | 'text' | 'actor'> & { readonly earlier: readonly Pick<Turn, 'actor'>[] };

/** Names for what is mentioned. Only channels that every asking member can see now have a name for the model. */
export async function mentionNames(
  turn: Asking,
  messages: readonly HistoryMessage[],
  access: Pick<Access, 'mayEnter'>,
): Promise<MentionNames> {
  const { channel, guild } = turn;
  const texts = [turn.text, ...messages.map(({ content }) => content).reverse()];
  const ids = new Set(texts.flatMap((text) => [...text.matchAll(CHANNEL)].flatMap(([, id]) => id ?? [])));
  const askers = [...turn.earlier, turn].map(({ actor }) => actor);
  const seen = new Map<string, string>();
  for (const id of [...ids].slice(0, MOST_CHANNELS)) {
    const mentioned = guild?.channels.cache.get(id);
    if (mentioned === undefined) continue;
    const at = { guildId: mentioned.guildId, channelId: id };
    const may = await Promise.all(askers.map((actor) => access.mayEnter(actor, at).catch(() => false)));
    if (may.every(Boolean)) seen.set(id, mentioned.name);
  }
  return {
    user(id) {
      const user = channel.client.users.cache.get(id);
      if (user === undefined) return undefined;
      const displayName = guild?.members.cache.get(id)?.displayName ?? user.displayName;
      return { displayName, username: user.username };
    },
    role: (id) => guild?.roles.cache.get(id)?.name,
    channel: (id) => seen.get(id),
  };
}
