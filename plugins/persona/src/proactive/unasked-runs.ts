import { type Clock, type Collection, type FrontDoor, type PersonaTrigger, z } from '@cinnabar/sdk';
import type { Guild, SendableChannels } from 'discord.js';
import type { RunParts } from '../context.js';
import { isQuietNow } from '../conversation/local-time.js';
import type { ReflectionState } from '../memory/types.js';
import { channelVoice } from '../running/message-sender.js';
import { runPersona } from '../running/run.js';
import type { PersonaSettings } from '../settings.js';
import type { CallsByName } from './called-by-name.js';
import type { Joins } from './noticing.js';

export interface UnaskedParts extends RunParts {
  readonly frontDoor: FrontDoor | undefined;
}

/** Whether a persona answers in a channel, and may therefore act there of its own accord. */
export async function livesIn(channel: SendableChannels, { frontDoor }: UnaskedParts): Promise<boolean> {
  if (frontDoor === undefined || channel.isDMBased()) return false;
  return (await frontDoor.responderIn(channel.guild.id, channel.id)) === 'persona';
}

/** Runs a persona that nobody has asked: it has no tools, pings nobody, and what goes wrong is for the log alone. */
export async function runUnasked(
  trigger: PersonaTrigger,
  channel: SendableChannels,
  parts: UnaskedParts,
  reflection?: ReflectionState,
): Promise<void> {
  const guildId = channel.isDMBased() ? null : channel.guild.id;
  const more = reflection === undefined ? {} : { reflection };
  const occasion = {
    trigger,
    channel,
    guildId,
    actor: undefined,
    tools: [],
    voice: channelVoice(channel, parts),
    message: null,
    ...more,
  };
  try {
    await runPersona({ ...occasion, signal: parts.signal }, parts);
  } catch (error) {
    parts.log.info('a persona could not act of its own accord', {
      channelId: channel.id,
      trigger: trigger.type,
      error,
    });
  }
}

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

const initiative = z.object({
  /** The day (UTC) that `used` is of. */
  day: z.string().default(''),
  used: z.number().default(0),
  /** When the timer last went off; 0: it has not been set yet. */
  timerAt: z.number().default(0),
});
export type Initiative = z.output<typeof initiative>;

/** To be declared among the plugin's collections. */
export const initiatives = { scope: 'guild', version: 1, schema: initiative } as const;

/** What a persona may do in a guild without being asked. */
export interface Allowance {
  /** Takes one run out of the day's budget. `false` when there is none, or the hours are quiet. Written before anything is done. */
  take(guildId: string, settings: PersonaSettings): Promise<boolean>;
  /** Whether the timer has run down; it is wound up again then. */
  timerDue(guildId: string, settings: PersonaSettings): Promise<boolean>;
}

const MINUTE_MS = 60_000;

export function createAllowance(collection: Collection<Initiative, 'guild'>, clock: Pick<Clock, 'now'>): Allowance {
  return {
    async take(guildId, settings) {
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
    async timerDue(guildId, { timerMinutes }) {
      const { timerAt } = await collection.of(guildId).get();
      if (timerAt !== 0 && clock.now() - timerAt < timerMinutes * MINUTE_MS) return false;
      await collection.of(guildId).update((draft) => {
        draft.timerAt = clock.now();
      });
      return timerAt !== 0;
    },
  };
}
