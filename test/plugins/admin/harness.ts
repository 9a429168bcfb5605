import type { TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';

/** Sends a message, and resolves with the text of all answers of the bot. */
export function answering(host: TestHost): (user: LocalUser, text: string) => Promise<string> {
  return async (user, text) => {
    const before = host.general.messages.length;
    user.say(host.general, text);
    await host.settled();
    return host.general.messages
      .slice(before)
      .filter(({ author }) => author.bot)
      .map(({ content }) => content)
      .join('\n');
  };
}
