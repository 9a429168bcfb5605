import type { Actor } from '@cinnabar/sdk';
import type { Client } from 'discord.js';

const UNKNOWN_MEMBER = 10007;

/**
 * Whether somebody is still in the guild. Discord is asked: without the privileged intent for members it does not tell of those who leave.
 * What it cannot say just now is taken for a yes, since every tool asks again before it runs.
 */
export async function isStillThere(client: Client, { guildId, userId }: Actor): Promise<boolean> {
  const guild = guildId === null ? undefined : client.guilds.cache.get(guildId);
  if (guild === undefined) return true;
  try {
    await guild.members.fetch({ user: userId, force: true });
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === UNKNOWN_MEMBER);
  }
}
