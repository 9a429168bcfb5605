import { type Clock, type Collection, isQuiet, type Logger, z } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Rosters } from '../agents/roster.js';
import type { Budget } from '../budget.js';
import { placeFacts } from '../events/facts.js';
import { type RelaySettings, rulesIn } from '../settings.js';
import type { RelayEvent } from '../types.js';
import { readPlan } from './schedule-parser.js';

const wake = z.object({
  id: z.number(),
  /** As the admin wrote it: `every day 9:00`. */
  when: z.string(),
  agent: z.string(),
  channelId: z.string(),
  text: z.string(),
  /** The admin who planned it. */
  userId: z.string(),
  dueAt: z.number(),
});

/** What a guild's admins have planned. */
export const wakes = {
  scope: 'guild',
  version: 1,
  schema: z.object({ last: z.number().default(0), planned: z.array(wake).default([]) }),
} as const;
export type Wakes = z.output<typeof wakes.schema>;
export type Wake = Wakes['planned'][number];

export interface WakeParts {
  readonly wakes: Collection<Wakes, 'guild'>;
  readonly rosters: Rosters;
  readonly settings: RelaySettings;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly client: Client;
  readonly log: Logger;
  readonly offer: (event: RelayEvent) => Promise<unknown>;
}

/** Tells agents of the wake-ups that are due. Each is planned anew before it is told, so none is told twice; those missed while the bot was off are told once. */
export async function wakeDue(parts: WakeParts): Promise<void> {
  for (const [guildId, { enabled, paused }] of parts.rosters.all()) {
    if (!enabled || paused || !parts.client.guilds.cache.has(guildId)) continue;
    try {
      await wakeIn(guildId, parts);
    } catch (error) {
      parts.log.warn('the wake-ups of a server could not be looked after', { guildId, error });
    }
  }
}

async function wakeIn(guildId: string, parts: WakeParts): Promise<void> {
  const { wakes: kept, settings, budget, clock, log } = parts;
  const now = clock.now();
  const known = await kept.of(guildId).find();
  const due = known?.planned.filter(({ dueAt }) => dueAt <= now) ?? [];
  if (due.length === 0) return;
  const rules = await rulesIn(settings, guildId);
  await kept.of(guildId).update((draft) => {
    for (const one of draft.planned) if (one.dueAt <= now) one.dueAt = readPlan(one.when, rules.timeZone).after(now);
  });
  for (const one of due) {
    if (isQuiet(now, rules)) log.info('a wake-up was left out: the hours are quiet', { guildId, wake: one.id });
    else if (!(await budget.takeWake(guildId)))
      log.info('a wake-up was left out: there were enough today', { guildId, wake: one.id });
    else await tryToWake(guildId, one, parts);
  }
}

async function tryToWake(guildId: string, one: Wake, parts: WakeParts): Promise<void> {
  try {
    await wakeUp(guildId, one, parts);
  } catch (error) {
    parts.log.info('a wake-up was left out', { guildId, wake: one.id, error });
  }
}

async function wakeUp(guildId: string, one: Wake, { client, clock, log, offer }: WakeParts): Promise<void> {
  const channel = client.channels.cache.get(one.channelId);
  if (channel === undefined || channel.isDMBased()) {
    log.warn('a wake-up was left out: its channel is gone', { guildId, wake: one.id, channelId: one.channelId });
    return;
  }
  await offer({
    id: `wake:${guildId}:${one.id}:${one.dueAt}`,
    kind: 'wake',
    agent: one.agent,
    guildId,
    channelId: one.channelId,
    userId: null,
    facts: {
      at: clock.now(),
      author: null,
      ...placeFacts(channel, channel.guild),
      messageId: null,
      content: one.text,
      chain: [],
      attachments: [],
    },
  });
}
