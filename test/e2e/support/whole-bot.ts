import { createDiscovery } from '@cinnabar/core';
import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import type { Plugin } from '@cinnabar/sdk';

export interface WholeBotOptions extends Omit<TestHostOptions, 'plugins'> {
  /** Plugins in addition to the bundled ones: folders, or plugins in memory. */
  readonly more?: readonly (string | Plugin)[];
  /** Ids of bundled plugins to omit. */
  readonly without?: readonly string[];
}

/** The bot with its bundled plugins on a local Discord. */
export interface WholeBot extends TestHost {
  /** Sends a message, and waits until all work is done. @returns the bot's messages meanwhile */
  hears(text: string, from?: LocalUser, where?: LocalChannel): Promise<readonly LocalMessage[]>;
  /** The bot's messages during `task` and all work that follows from it. */
  saidDuring(task: () => unknown): Promise<readonly LocalMessage[]>;
}

/** Starts every bundled plugin on the real host. */
export async function startWholeBot(options: WholeBotOptions = {}): Promise<WholeBot> {
  const { more = [], without = [], ...rest } = options;
  const { plugins } = await createDiscovery({ folders: [], packageRoots: [] })();
  const bundled = plugins.map(({ id }) => id).filter((id) => !without.includes(id));
  const host = await createTestHost({ ...rest, plugins: [...bundled, ...more] });
  const said: LocalMessage[] = [];
  const stopListening = host.discord.observe((event) => {
    if (event.type === 'messageCreate' && event.message.author.id === host.bot.id) said.push(event.message);
  });
  const saidDuring = async (task: () => unknown) => {
    const known = said.length;
    await task();
    await host.settled();
    return said.slice(known);
  };
  return {
    ...host,
    saidDuring,
    hears: (text, from = host.alice, where = host.general) => saidDuring(() => from.say(where, text)),
    async [Symbol.asyncDispose]() {
      stopListening();
      await host[Symbol.asyncDispose]();
    },
  };
}

/** The texts of messages. */
export const contents = (messages: readonly LocalMessage[]) => messages.map(({ content }) => content);
