import { type CommandContext, option, type Subcommand, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { assertLetIn, placesOf } from '../agents/permissions.js';
import { chooseAgent } from '../agents/roster.js';
import type { Relay } from '../context.js';
import { readPlan } from '../presence/wakes.js';
import { rulesIn } from '../settings.js';
import { ADMIN, guildOf, inert, timestamp } from './options.js';

const REMOVE = 'remove';
const MOST = 25;
const LONGEST = 2_000;

/** `!relay wake`: what is planned for the agents. */
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
      // The text of a wake-up is for members who can see its channel.
      return (await access.mayEnter(ctx.actor, { guildId, channelId })) ? `${line}: ${inert(text)}` : line;
    }),
  );
  return ctx.reply(lines.join('\n'));
}
