import { isQuiet, z } from '@cinnabar/sdk';
import type { Relay } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { placeFacts } from '../events/message-event.js';
import { enqueue } from '../intake/respond.js';
import { rulesIn } from '../settings.js';
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

/** The wake-ups that a guild's admins have planned. */
export const wakes = {
  scope: 'guild',
  version: 1,
  schema: z.object({ last: z.number().default(0), planned: z.array(wake).default([]) }),
} as const;
export type Wakes = z.output<typeof wakes.schema>;
export type Wake = Wakes['planned'][number];

/** Queues the wake-ups that are due. Each is rescheduled first, so that none is queued twice; one that was missed several times while the bot was off is queued once. */
export async function wakeDue(relay: Relay): Promise<void> {
  for (const [guildId, { enabled, paused }] of relay.rosters.all()) {
    if (!enabled || paused || !relay.client.guilds.cache.has(guildId)) continue;
    try {
      await wakeIn(guildId, relay);
    } catch (error) {
      relay.log.warn('the wake-ups of a server could not be handled', { guildId, error });
    }
  }
}

async function wakeIn(guildId: string, relay: Relay): Promise<void> {
  const { settings, budget, clock, log } = relay;
  const { wakes: stored } = relay.collections;
  const now = clock.now();
  const known = await stored.of(guildId).find();
  const due = known?.planned.filter(({ dueAt }) => dueAt <= now) ?? [];
  if (due.length === 0) return;
  const rules = await rulesIn(settings, guildId);
  await stored.of(guildId).update((draft) => {
    for (const one of draft.planned) if (one.dueAt <= now) one.dueAt = readPlan(one.when, rules.timeZone).after(now);
  });
  for (const one of due) {
    if (isQuiet(now, rules)) log.info('a wake-up was left out: the hours are quiet', { guildId, wake: one.id });
    else if (!(await budget.takeWake(guildId)))
      log.info('a wake-up was left out: there were enough today', { guildId, wake: one.id });
    else await tryToWake(guildId, one, relay);
  }
}

async function tryToWake(guildId: string, one: Wake, relay: Relay): Promise<void> {
  try {
    await wakeUp(guildId, one, relay);
  } catch (error) {
    relay.log.info('a wake-up was left out', { guildId, wake: one.id, error });
  }
}

async function wakeUp(guildId: string, one: Wake, relay: Relay): Promise<void> {
  const { client, clock, log } = relay;
  const channel = client.channels.cache.get(one.channelId);
  if (channel === undefined || channel.isDMBased()) {
    log.warn('a wake-up was left out: its channel is gone', { guildId, wake: one.id, channelId: one.channelId });
    return;
  }
  const event: RelayEvent = {
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
  };
  await enqueue(event, relay);
}
