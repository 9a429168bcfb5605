import type { Registrar } from '@cinnabar/sdk';
import type { Client } from 'discord.js';

/** Discord shows typing for 10 s. */
const REFRESH_MS = 8_000;

/** Shows the bot typing in a channel until the returned function is called. A channel where it cannot is left alone. */
export async function showTyping(client: Client, channelId: string, { every, log }: Pick<Registrar, 'every' | 'log'>) {
  const type = async () => {
    try {
      const channel = await client.channels.fetch(channelId);
      if (channel?.isSendable() === true) await channel.sendTyping();
    } catch (error) {
      log.debug('typing was not shown', { channelId, error });
    }
  };
  const dispose = every(REFRESH_MS, type);
  await type();
  return dispose;
}
