import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import type { BotName } from './bot-process.js';

/** A local Discord with a guild for each bot, so that all of them can be online at once without receiving each other's events. */
export interface BenchWorld extends AsyncDisposable {
  readonly discord: LocalDiscord;
  readonly alice: LocalUser;
  place(bot: BotName): { readonly application: LocalApplication; readonly channel: LocalChannel };
}

export async function createBenchWorld(): Promise<BenchWorld> {
  const discord = await startLocalDiscord({ keepMessages: 1_000 });
  discord.requests.enabled = false;
  const owner = discord.createUser({ name: 'owner' });
  const alice = discord.createUser({ name: 'alice' });
  const places = new Map<BotName, { application: LocalApplication; channel: LocalChannel }>();
  return {
    discord,
    alice,
    place(bot) {
      const known = places.get(bot);
      if (known !== undefined) return known;
      const application = discord.createApplication({ name: bot, owner });
      const guild = discord.createGuild({ name: bot, owner });
      guild.invite(application);
      guild.join(alice);
      const place = { application, channel: guild.createChannel({ name: 'general' }) };
      places.set(bot, place);
      return place;
    },
    [Symbol.asyncDispose]: () => discord.close(),
  };
}
