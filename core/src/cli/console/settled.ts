import type { LocalDiscord } from '@cinnabar/local-discord';
import type { Host } from '../../host.js';

/**
 * Makes a function that resolves when the bot has received everything, done everything that follows from it, and Discord has heard of it.
 * What waits for a person or for the clock is not waited for.
 */
export function createSettled(discord: LocalDiscord, host: Pick<Host, 'idle'>): () => Promise<void> {
  return async () => {
    let busy = true;
    while (busy) {
      await discord.settled();
      busy = await host.idle();
    }
  };
}
