import type { Turn } from '@cinnabar/sdk';
import { PermissionFlagsBits } from 'discord.js';
import type { MentionNames } from '../../context/types.js';

/** Names for what is mentioned. Only channels that every asking member can see have a name for the model. */
export function mentionNames(turn: Turn): MentionNames {
  const { channel, guild } = turn;
  const askers = [...turn.earlier, turn].map(({ member }) => member);
  return {
    user(id) {
      const user = channel.client.users.cache.get(id);
      if (user === undefined) return undefined;
      const displayName = guild?.members.cache.get(id)?.displayName ?? user.displayName;
      return { displayName, username: user.username };
    },
    role: (id) => guild?.roles.cache.get(id)?.name,
    channel(id) {
      const mentioned = guild?.channels.cache.get(id);
      if (mentioned === undefined) return undefined;
      const isSeen = askers.every(
        (member) => member !== null && mentioned.permissionsFor(member).has(PermissionFlagsBits.ViewChannel),
      );
      return isSeen ? mentioned.name : undefined;
    },
  };
}
