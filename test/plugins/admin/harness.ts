import type { TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';

/** Says something and resolves with what the bot answers: one text, however many messages. */
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
