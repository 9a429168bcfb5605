import { type Clock, type Collection, type PersonaTrigger, z } from '@cinnabar/sdk';
import type { Guild, SendableChannels } from 'discord.js';
import type { PersonaContext } from '../context.js';
import { isQuietNow } from '../conversation/render.js';
import type { ReflectionState } from '../memory/types.js';
import { post } from '../running/message-sender.js';
import { runPersona } from '../running/run.js';
import type { PersonaSettings } from '../settings.js';
import type { Watcher } from './watchers.js';

/** Whether a persona answers in a channel, and may therefore act there unasked. */
export async function livesIn(channel: SendableChannels, { frontDoor }: PersonaContext): Promise<boolean> {
  if (frontDoor === undefined || channel.isDMBased()) return false;
  return (await frontDoor.responderIn(channel.guild.id, channel.id)) === 'persona';
}

/** Runs a persona unasked: without tools and pings; errors only go to the log. */
export async function runUnasked(
  trigger: PersonaTrigger,
  channel: SendableChannels,
  persona: PersonaContext,
  reflection?: ReflectionState,
): Promise<void> {
  const guildId = channel.isDMBased() ? null : channel.guild.id;
  const { signal } = persona;
  const unasked = { actor: undefined, tools: [], message: null, send: post(channel, persona) };
  try {
    await runPersona({ ...unasked, trigger, channel, guildId, reflection, signal }, persona);
  } catch (error) {
    persona.log.info('a persona could not act of its own accord', {
      channelId: channel.id,
      trigger: trigger.type,
      error,
    });
  }
}

interface Watchers {
  readonly joins: Watcher;
  readonly callsByName: Watcher;
}

/** How often timers and reflections are checked. */
export const TICK_MS = 60_000;

/** In how many guilds at a time. */
const AT_ONCE = 4;

/** One round over the guilds of this process. */
export async function tick(watchers: Watchers, persona: PersonaContext): Promise<void> {
  await overGuilds(watchers, persona, (guild, settings) => look(guild, settings, persona));
}

/** Listens for calls by name and for new members where a guild wants that, without waiting for the first round. */
export const listen = (watchers: Watchers, persona: PersonaContext): Promise<void> =>
  overGuilds(watchers, persona, async () => undefined);

async function overGuilds(
  { joins, callsByName }: Watchers,
  persona: PersonaContext,
  visitGuild: (guild: Guild, settings: PersonaSettings) => Promise<void>,
): Promise<void> {
  const waiting = [...persona.client.guilds.cache.values()];
  let welcomes = false;
  let answers = false;
  const work = async () => {
    for (let guild = waiting.pop(); guild !== undefined && !persona.signal.aborted; guild = waiting.pop()) {
      try {
        const settings = await persona.settingsFor(guild.id);
        welcomes ||= settings.onJoin;
        answers ||= settings.answersToName;
        await visitGuild(guild, settings);
      } catch (error) {
        persona.log.warn('a guild was passed over', { guildId: guild.id, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (persona.signal.aborted) return;
  await joins.watch(welcomes);
  await callsByName.watch(answers);
}

async function look(guild: Guild, settings: PersonaSettings, persona: PersonaContext): Promise<void> {
  if (!persona.plugins.enabledIn(guild.id, 'persona')) return;
  if (settings.home === undefined || (settings.timerMinutes === 0 && !settings.reflection)) return;
  const home = homeIn(guild, settings.home);
  if (home !== undefined && (await livesIn(home, persona))) await visit(guild.id, home, settings, persona);
}

async function visit(
  guildId: string,
  home: SendableChannels,
  settings: PersonaSettings,
  persona: PersonaContext,
): Promise<void> {
  const { allowance, clock, memories, store } = persona;
  if (
    settings.timerMinutes > 0 &&
    (await allowance.timerDue(guildId, settings)) &&
    (await allowance.take(guildId, settings))
  ) {
    const content = `The last time was ${settings.timerMinutes} minutes ago.`;
    return runUnasked({ type: 'timer', content, at: clock.now() }, home, persona);
  }
  if (!settings.reflection) return;
  const place = await store.memoryPlace({ guildId, channelId: home.id });
  const state = await memories.reflection(place);
  if (!state.due || !(await allowance.take(guildId, settings))) return;
  const content = `${state.evidence.length} memories to reflect on.`;
  await runUnasked({ type: 'self_reflection', content, at: clock.now() }, home, persona, state);
  // Also when nothing came of it: the count starts anew.
  if ((await memories.reflection(place)).due) await memories.reflect(place, []);
}

function homeIn(guild: Guild, channelId: string): SendableChannels | undefined {
  const channel = guild.channels.cache.get(channelId);
  return channel?.isSendable() === true ? channel : undefined;
}

const initiative = z.object({
  /** The day (UTC) that `used` is of. */
  day: z.string().default(''),
  used: z.number().default(0),
  /** When the timer last went off; 0: it has not been set yet. */
  timerAt: z.number().default(0),
});
type Initiative = z.output<typeof initiative>;

/** To be declared among the plugin's collections. */
export const initiatives = { scope: 'guild', version: 1, schema: initiative } as const;

const MINUTE_MS = 60_000;

export type Allowance = ReturnType<typeof createAllowance>;

/** What a persona may do in a guild without being asked. */
export function createAllowance(collection: Collection<Initiative, 'guild'>, clock: Pick<Clock, 'now'>) {
  return {
    /** Takes one run out of the day's budget. `false` when there is none, or the hours are quiet. Written before anything is done. */
    async take(guildId: string, settings: PersonaSettings): Promise<boolean> {
      if (isQuietNow(settings, clock.now())) return false;
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      let taken = false;
      await collection.of(guildId).update((draft) => {
        const used = draft.day === today ? draft.used : 0;
        taken = used < settings.dayBudget;
        if (taken) Object.assign(draft, { day: today, used: used + 1 });
      });
      return taken;
    },
    /** Whether the timer has run out; it starts again then. */
    async timerDue(guildId: string, { timerMinutes }: PersonaSettings): Promise<boolean> {
      const { timerAt } = await collection.of(guildId).get();
      if (timerAt !== 0 && clock.now() - timerAt < timerMinutes * MINUTE_MS) return false;
      await collection.of(guildId).update((draft) => {
        draft.timerAt = clock.now();
      });
      return timerAt !== 0;
    },
  };
}
