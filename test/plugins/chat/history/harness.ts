import { once } from 'node:events';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { createImages, type ImageLimits } from '@cinnabar/plugin-chat/dist/history/attachment-cache.js';
import {
  createChannelHistory,
  HISTORY_INTENTS,
  type HistoryDependencies,
} from '@cinnabar/plugin-chat/dist/history/channel-history.js';
import { LOG_LIMITS } from '@cinnabar/plugin-chat/dist/history/logs.js';
import type {
  ChannelHistory,
  HistoryMessage,
  HistoryWindow,
  WindowOptions,
} from '@cinnabar/plugin-chat/dist/history/types.js';
import { Access, Clock, definePlugin, discordAddresses, type Plugin } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import { recordingLogger } from '../../../support/logs.js';

type HistoryLimits = NonNullable<HistoryDependencies['limits']>;

/** A host with only a channel history. */
export interface HistoryHarness extends AsyncDisposable {
  readonly host: TestHost;
  readonly history: ChannelHistory;
  /** Default: reads as alice in the general channel with a limit of 400. */
  read(channel?: LocalChannel, options?: Partial<WindowOptions> & { readonly as?: LocalUser }): Promise<HistoryWindow>;
  /** The same, without waiting for events that are still being transmitted. */
  readNow: HistoryHarness['read'];
  /** The same, as lines `alice: Hello`. */
  lines(
    channel?: LocalChannel,
    options?: Partial<WindowOptions> & { readonly as?: LocalUser },
  ): Promise<readonly string[]>;
  configs(channel?: LocalChannel, names?: readonly string[]): Promise<readonly string[]>;
  /** Loses the session: the bot receives no events of `meanwhile`, and cannot resume. */
  loseSession(meanwhile: () => void): Promise<void>;
  /** Number of pages of messages that were requested since the last call. */
  pages(): number;
  /** Number of requests since the last call. */
  requests(): number;
}

/** @param limits those that differ from the plugin's */
export async function openHistory(limits?: Partial<HistoryLimits>): Promise<HistoryHarness> {
  let made: ChannelHistory | undefined;
  const host = await createTestHost({
    plugins: [historian({ ...LOG_LIMITS, ...limits }, (history) => (made = history))],
  });
  if (made === undefined) throw new Error('The plugin did not start.');
  const history = made;
  // A user who has written a message is cached.
  const lobby = host.guild.createChannel({ name: 'lobby' });
  for (const person of [host.you, host.alice, host.bob]) person.say(lobby, 'Here I am');
  await host.settled();
  const seen = { pages: 0, requests: 0 };
  const since = (what: keyof typeof seen, count: number) => {
    const news = count - seen[what];
    seen[what] = count;
    return news;
  };
  const channelOf = (channel: LocalChannel): SendableChannels => {
    const found = host.client.channels.cache.get(channel.id);
    if (found === undefined || !found.isSendable()) throw new Error(`The bot does not know ${channel.name}.`);
    return found;
  };
  const readNow: HistoryHarness['read'] = (channel = host.general, { as = host.alice, ...options } = {}) =>
    history.window(channelOf(channel), {
      limit: 400,
      historyRoles: [],
      readers: [{ userId: as.id, guildId: channel.guild?.id ?? null, channelId: channel.id }],
      ...options,
    });
  const read: HistoryHarness['read'] = async (channel, options) => {
    await host.settled();
    return readNow(channel, options);
  };

  return {
    host,
    history,
    read,
    readNow,
    lines: async (channel, options) => (await read(channel, options)).messages.map(asLine),
    async configs(channel = host.general, names) {
      await host.settled();
      return (await history.pinnedConfigs(channelOf(channel), names)).map(({ yaml }) => yaml);
    },
    async loseSession(meanwhile) {
      await host.settled();
      const [lost, back] = [once(host.client, 'shardReconnecting'), once(host.client, 'shardReady')];
      host.discord.faults.gateway.invalidateSessions(false);
      await lost;
      meanwhile();
      let isBack = false;
      void back.then(() => {
        isBack = true;
      });
      // A bot may identify once in five seconds, and the host pauses between its attempts.
      while (!isBack) {
        await host.discord.settled();
        host.clock.advance(1_000);
      }
      await host.settled();
    },
    pages: () => since('pages', host.discord.requests.of('GET', '/channels/:channelId/messages').length),
    requests: () => since('requests', host.discord.requests.all.length),
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function historian(limits: HistoryLimits, onStart: (history: ChannelHistory) => void): Plugin {
  return definePlugin({
    manifest: { id: 'historian', version: '1.0.0', description: 'Keeps the history', intents: [...HISTORY_INTENTS] },
    inject: { access: Access, clock: Clock },
    setup({ on, client, log, command, services: { access, clock } }) {
      command({
        name: 'speak',
        description: 'Says something to all and something to one',
        surface: 'slash',
        async run(context) {
          await context.reply('said aloud');
          await context.reply({ content: 'whispered', ephemeral: true });
        },
      });
      onStart(createChannelHistory({ on, client, access, clock, log, limits }));
    },
  });
}

export function asLine({ author, content, extras }: HistoryMessage): string {
  return `${author.displayName}: ${[content, ...extras].filter((text) => text !== '').join(' ')}`;
}

/** Sends `count` numbered messages. */
export function chatter(user: LocalUser, channel: LocalChannel, count: number, word = 'message') {
  return Array.from({ length: count }, (_, at) => user.say(channel, `${word} ${at + 1}`));
}

/** The link to a message, as Discord's client copies it. */
export function linkTo(message: { readonly id: string; readonly channel: LocalChannel }): string {
  return `https://discord.com/channels/${message.channel.guild?.id ?? '@me'}/${message.channel.id}/${message.id}`;
}

interface ImageOptions {
  readonly clock: Clock;
  readonly limits?: Partial<ImageLimits>;
  /** The address of Discord's API, where it is another one. */
  readonly api?: string | undefined;
  /** In place of the network. */
  readonly fetch?: typeof fetch;
}

/** The cache of images in a folder. No link has to be renewed. */
export function imagesIn(folder: string, { clock, limits = {}, api, ...more }: ImageOptions) {
  return createImages({
    folder: async () => folder,
    clock,
    log: recordingLogger(),
    limits,
    mayFetch: discordAddresses(api),
    freshLink: async (url) => url,
    ...more,
  });
}
