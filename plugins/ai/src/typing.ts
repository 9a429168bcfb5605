import type { Registrar } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';

/** Discord shows typing for 10 s. */
const REFRESH_MS = 8_000;

/** Shows the bot typing until the returned function is called. A channel where it cannot is left alone. */
export function showTyping(channel: SendableChannels, { every, log }: Pick<Registrar, 'every' | 'log'>) {
  const type = () => channel.sendTyping().catch((error: unknown) => log.debug('typing was not shown', { error }));
  const first = type();
  const dispose = every(REFRESH_MS, type);
  return async (): Promise<void> => {
    await dispose();
    await first;
  };
}
