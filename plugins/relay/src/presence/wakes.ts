import { type CommandContext, isQuiet, option, type Subcommand, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { Cron } from 'croner';
import { assertLetIn, placesOf } from '../agents/permissions.js';
import { chooseAgent } from '../agents/roster.js';
import { ADMIN, guildOf, inert, timestamp } from '../commands/options.js';
import type { Relay } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import { placeFacts } from '../events/message-event.js';
import { enqueue } from '../intake/respond.js';
import { rulesIn } from '../settings.js';

const wake = z.object({
  id: z.number(),
  /** The plan as the admin wrote it: `every day 9:00`. */
  when: z.string(),
  agent: z.string(),
  channelId: z.string(),
  text: z.string(),
  /** The admin who planned it. */
  userId: z.string(),
  dueAt: z.number(),
});

/** The planned wake-ups of a guild. */
export const wakes = {
  scope: 'guild',
  version: 1,
  schema: z.object({ last: z.number().default(0), planned: z.array(wake).default([]) }),
  personal: { each: 'planned', by: 'userId' },
} as const;
type Wakes = z.output<typeof wakes.schema>;
type Wake = Wakes['planned'][number];

/**
 * Queues the due wake-ups. Each is rescheduled first, so that it is not queued twice. One that was missed several times while the bot was off is queued once.
 */
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

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LEAST_MS = 10 * 60_000;

/** A repeating time. */
interface Plan {
  /** The next time after `at`, in milliseconds since the Unix epoch. */
  after(at: number): number;
}

/**
 * Reads `every day 9:00`, `every weekday 18:30`, `every mon, thu 9:00`, `every 4h` or `every 90m`.
 * @param timeZone time zone of the times of day
 * @throws UserError for other texts
 */
function readPlan(text: string, timeZone: string): Plan {
  const words = /^every\s+(.+)$/iu.exec(text.trim())?.[1]?.trim().toLowerCase() ?? '';
  return readInterval(words) ?? readTimes(words, timeZone) ?? unreadable();
}

function readInterval(words: string): Plan | undefined {
  const [, count, unit] = /^(\d{1,4})\s*([mhd])$/u.exec(words) ?? [];
  if (count === undefined || (unit !== 'm' && unit !== 'h' && unit !== 'd')) return undefined;
  const every = Number(count) * UNIT_MS[unit];
  if (every < LEAST_MS) throw new UserError(t('That is too often: wake-ups are at least 10 minutes apart.'));
  return { after: (at) => at + every };
}

function readTimes(words: string, timeZone: string): Plan | undefined {
  const [, which = '', hour, minute] = /^(\D+?)\s+(?:at\s+)?([01]?\d|2[0-3]):([0-5]\d)$/u.exec(words) ?? [];
  const days = daysOf(which);
  if (days === undefined || hour === undefined || minute === undefined) return undefined;
  const times = new Cron(`${Number(minute)} ${Number(hour)} * * ${days}`, { timezone: timeZone, paused: true });
  return { after: (at) => times.nextRun(new Date(at))?.getTime() ?? at + UNIT_MS.d };
}

/** The days as a field of a cron expression; `undefined` if they are not valid. */
function daysOf(which: string): string | undefined {
  if (which === 'day') return '*';
  if (which === 'weekday') return '1-5';
  const numbers = which.split(/[\s,]+/u).map((word) => DAYS.findIndex((day) => word.startsWith(day)));
  return numbers.includes(-1) ? undefined : numbers.join(',');
}

function unreadable(): never {
  throw new UserError(
    t(
      'I do not understand when that is. Write for instance `"every day 9:00"`, `"every weekday 18:30"`, `"every mon, thu 9:00"` or `"every 4h"`.',
    ),
  );
}

const REMOVE = 'remove';
const MOST = 25;
const LONGEST = 2_000;

/** The commands `!relay wake`: plans wake-ups. */
export function wakeCommand(relay: Relay): Subcommand {
  return subcommand({
    name: 'wake',
    description: 'Wake an agent again and again, in this channel',
    help: `Without anything it lists what is planned; \`relay wake ${REMOVE} <number>\` undoes one. Times are in the time zone of \`relay config timeZone\`.`,
    access: ADMIN,
    options: {
      when: z
        .string()
        .optional()
        .describe('"every day 9:00", "every weekday 18:30", "every mon, thu 9:00", "every 4h"'),
      text: option.rest().optional().describe('What the agent is told'),
    },
    examples: [
      'relay wake "every day 9:00" Greet whoever has joined since yesterday',
      `relay wake ${REMOVE} 1`,
      'relay wake',
    ],
    run(ctx, { when, text }) {
      if (when === undefined) return list(relay, ctx);
      return when === REMOVE ? remove(relay, ctx, Number(text)) : plan(relay, ctx, when, text);
    },
  });
}

async function plan(
  { collections: { wakes }, rosters, identities, settings, clock }: Relay,
  ctx: CommandContext,
  when: string,
  text: string | undefined,
) {
  const guildId = guildOf(ctx);
  const roster = rosters.of(guildId);
  const chosen = roster === undefined ? undefined : chooseAgent(roster, placesOf(ctx.channel), text ?? '');
  if (chosen === undefined)
    throw new UserError(t('There is no agent here yet. Let one in with `relay agent <id> [name]`.'));
  if (text === undefined)
    throw new UserError(t('Write what the agent is to be told: `relay wake "every day 9:00" Say good morning`.'));
  await assertLetIn(identities, guildId, chosen, ctx.channel);
  if (text.length > LONGEST) throw new UserError(t('That is longer than {longest} characters.', { longest: LONGEST }));
  const dueAt = readPlan(when, (await rulesIn(settings, guildId)).timeZone).after(clock.now());
  const { last } = await wakes.of(guildId).update((draft) => {
    if (draft.planned.length >= MOST) throw new UserError(t('{most} wake-ups are planned already.', { most: MOST }));
    draft.last += 1;
    const { key } = chosen;
    draft.planned.push({
      id: draft.last,
      when,
      agent: key,
      channelId: ctx.channel.id,
      text,
      userId: ctx.user.id,
      dueAt,
    });
  });
  return ctx.reply(
    t('Wake-up {last}: `{agent}` is woken here {when}, next at {time}.', {
      last,
      agent: chosen.agent.name,
      when: inert(when),
      time: timestamp(dueAt, 'f'),
    }),
  );
}

async function remove({ collections: { wakes } }: Relay, ctx: CommandContext, id: number) {
  const document = wakes.of(guildOf(ctx));
  const known = await document.get();
  if (!known.planned.some((one) => one.id === id))
    throw new UserError(t('There is no such wake-up. `relay wake` lists them.'));
  await document.update((draft) => {
    draft.planned = draft.planned.filter((one) => one.id !== id);
  });
  return ctx.reply(t('Wake-up {id} is taken back.', { id }));
}

async function list({ collections: { wakes }, access }: Relay, ctx: CommandContext) {
  const { planned } = await wakes.of(guildOf(ctx)).get();
  if (planned.length === 0)
    return ctx.reply(t('No wake-up is planned. `relay wake "every day 9:00" Say good morning` plans one.'));
  const guildId = guildOf(ctx);
  const lines = await Promise.all(
    planned.map(async ({ id, when, agent, channelId, text, dueAt }) => {
      const line = t('{id}: `{agent}` in <#{channelId}> {when}, next at {time}', {
        id,
        agent,
        channelId,
        when: inert(when),
        time: timestamp(dueAt, 'f'),
      });
      // Only members who can see the wake-up's channel may read its text.
      return (await access.mayEnter(ctx.actor, { guildId, channelId })) ? `${line}: ${inert(text)}` : line;
    }),
  );
  return ctx.reply(lines.join('\n'));
}
