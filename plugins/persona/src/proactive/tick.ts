import type { Guild, SendableChannels } from 'discord.js';
import type { PersonaSettings } from '../settings.js';
import type { Allowance } from './allowance.js';
import type { CallsByName } from './called-by-name.js';
import type { Joins } from './joins.js';
import { livesIn, runUnasked, type UnaskedParts } from './start.js';

export interface TickParts extends UnaskedParts {
  readonly allowance: Allowance;
  readonly joins: Joins;
  readonly callsByName: CallsByName;
}

/** How often it is looked whether a persona has something to do of its own accord. */
export const TICK_MS = 60_000;

/** In how many guilds at a time. */
const AT_ONCE = 4;

/** One round over the guilds of this process. */
export async function tick(parts: TickParts): Promise<void> {
  await overGuilds(parts, (guild, settings) => look(guild, settings, parts));
}

/** Listens for calls by name and for new members where a guild wants that, without waiting for the first round. */
export const listen = (parts: TickParts): Promise<void> => overGuilds(parts, async () => undefined);

async function overGuilds(
  parts: TickParts,
  visitGuild: (guild: Guild, settings: PersonaSettings) => Promise<void>,
): Promise<void> {
  const waiting = [...parts.client.guilds.cache.values()];
  let welcomes = false;
  let answers = false;
  const work = async () => {
    for (let guild = waiting.pop(); guild !== undefined && !parts.signal.aborted; guild = waiting.pop()) {
      try {
        const settings = await parts.settingsFor(guild.id);
        welcomes ||= settings.onJoin;
        answers ||= settings.answersToName;
        await visitGuild(guild, settings);
      } catch (error) {
        parts.log.warn('a guild was passed over', { guildId: guild.id, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (parts.signal.aborted) return;
  await parts.joins.watch(welcomes);
  await parts.callsByName.watch(answers);
}

async function look(guild: Guild, settings: PersonaSettings, parts: TickParts): Promise<void> {
  if (!parts.plugins.enabledIn(guild.id, 'persona')) return;
  if (settings.home === undefined || (settings.timerMinutes === 0 && !settings.reflection)) return;
  const home = homeIn(guild, settings.home);
  if (home !== undefined && (await livesIn(home, parts))) await visit(guild.id, home, settings, parts);
}

async function visit(
  guildId: string,
  home: SendableChannels,
  settings: PersonaSettings,
  parts: TickParts,
): Promise<void> {
  const { allowance, clock, memories, store } = parts;
  if (
    settings.timerMinutes > 0 &&
    (await allowance.timerDue(guildId, settings)) &&
    (await allowance.take(guildId, settings))
  ) {
    const content = `The last time was ${settings.timerMinutes} minutes ago.`;
    return runUnasked({ type: 'timer', content, at: clock.now() }, home, parts);
  }
  if (!settings.reflection) return;
  const place = await store.memoryPlace({ guildId, channelId: home.id });
  const state = await memories.reflection(place);
  if (!state.due || !(await allowance.take(guildId, settings))) return;
  const content = `${state.evidence.length} memories to reflect on.`;
  await runUnasked({ type: 'self_reflection', content, at: clock.now() }, home, parts, state);
  // Also when nothing came of it: the count starts anew.
  if ((await memories.reflection(place)).due) await memories.reflect(place, []);
}

function homeIn(guild: Guild, channelId: string): SendableChannels | undefined {
  const channel = guild.channels.cache.get(channelId);
  return channel?.isSendable() === true ? channel : undefined;
}
