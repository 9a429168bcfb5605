import { type CommandContext, option, subcommand, UserError, z } from '@cinnabar/sdk';
import { selfName } from '../running/run-context.js';
import { addItem, removeItem, toldIn } from '../state/goals.js';
import { LIMITS, tidy } from '../state/schema.js';
import { authorOf, type CommandParts, listed, placeOf, SHAPE, shown } from './register.js';

export const showCommand = (parts: CommandParts) =>
  subcommand({
    name: 'show',
    description: 'Show who the persona is, and how it feels',
    async run(ctx) {
      const { state, version } = await parts.store.read(placeOf(ctx));
      const told = parts.store.toldAt(placeOf(ctx));
      const { kind } = await parts.store.home(placeOf(ctx));
      const { mood, appearance, environment } = state;
      await ctx.reply(
        [
          `**${shown(nameIn(ctx, state.name))}** (${kind === 'guild' ? 'everywhere in this server' : 'in this channel'}, version ${version})`,
          shown(state.description, 600),
          `**Mood** ${shown(mood.name)} (${mood.intensity} of 10)`,
          ...(appearance === '' ? [] : [`**Appearance** ${shown(appearance)}`]),
          ...(environment === '' ? [] : [`**Environment** ${shown(environment)}`]),
          ...listed(
            'Goals',
            toldIn(state.goals, told).map(({ text }) => text),
          ),
          ...listed(
            'Desires',
            toldIn(state.desires, told).map(({ text }) => text),
          ),
        ].join('\n'),
      );
    },
  });

/** What the persona is called where the command was given. */
export function nameIn({ channel, guild, message }: CommandContext, own: string): string {
  if (channel.isSendable()) return selfName(own, channel);
  return own || (guild?.members.me?.displayName ?? message?.client.user.displayName ?? 'the persona');
}

export const moodCommand = (parts: CommandParts) =>
  subcommand({
    name: 'mood',
    description: 'Show the mood of the persona, or set it (admins)',
    options: {
      mood: z.string().min(1).max(LIMITS.mood).optional().describe('The mood in a word or two'),
      intensity: z.number().min(0).max(10).default(5).describe('How strongly, 0 to 10'),
    },
    examples: ['persona mood', 'persona mood cheerful 7'],
    async run(ctx, { mood, intensity }) {
      if (mood !== undefined) {
        await ctx.requireAccess(SHAPE);
        const name = tidy(mood, LIMITS.mood);
        if (name === '') throw new UserError('That mood has nothing readable in it.');
        await parts.store.change(placeOf(ctx), authorOf(ctx, parts), `mood: ${name} (${intensity})`, (state) => {
          state.mood = { name, intensity };
        });
      }
      const { state } = await parts.store.read(placeOf(ctx));
      await ctx.reply(`Mood: ${shown(state.mood.name)} (${state.mood.intensity} of 10)`);
    },
  });

interface Wishes {
  readonly key: 'goals' | 'desires';
  readonly one: 'goal' | 'desire';
  readonly title: string;
  readonly description: string;
  readonly example: string;
}

export const goalsCommand = (parts: CommandParts) =>
  wishesCommand(parts, {
    key: 'goals',
    one: 'goal',
    title: 'Goals',
    description: 'Show what the persona wants to achieve; add or remove a goal (admins)',
    example: 'Learn everybody’s birthday',
  });

export const desiresCommand = (parts: CommandParts) =>
  wishesCommand(parts, {
    key: 'desires',
    one: 'desire',
    title: 'Desires',
    description: 'Show what the persona wants here and now; add or remove a desire (admins)',
    example: 'Hear a good story',
  });

function wishesCommand(parts: CommandParts, { key, one, title, description, example }: Wishes) {
  return subcommand({
    name: key,
    description,
    options: {
      change: z.enum(['list', 'add', 'remove']).default('list').describe('What to do'),
      text: option.rest().optional().describe(`The ${one}; to remove one, its number is enough`),
    },
    examples: [`persona ${key}`, `persona ${key} add ${example}`, `persona ${key} remove 1`],
    async run(ctx, { change, text: given = '' }) {
      if (change !== 'list') {
        await ctx.requireAccess(SHAPE);
        const text = tidy(given, LIMITS.short);
        if (text === '') throw new UserError(`Which ${one}? Write it after the word.`);
        await parts.store.change(placeOf(ctx), authorOf(ctx, parts), `${change} ${one}: ${text}`, (state, at) => {
          if (change === 'add') addItem(state[key], { text, userId: ctx.actor.userId, at }, one);
          else removeItem(state[key], text, at, one);
        });
      }
      const { state } = await parts.store.read(placeOf(ctx));
      const texts = toldIn(state[key], parts.store.toldAt(placeOf(ctx))).map(({ text }) => text);
      const lines = listed(title, texts);
      await ctx.reply(lines.length === 0 ? `It has no ${key}.` : lines.join('\n'));
    },
  });
}

export const undoCommand = (parts: CommandParts) =>
  subcommand({
    name: 'undo',
    description: 'Take back the latest change of the persona',
    help: 'What it changed in the course of one answer is taken back together, with the memories that it added or put out of mind. Can be repeated.',
    access: SHAPE,
    async run(ctx) {
      const undone = await parts.store.undo(placeOf(ctx));
      if (undone === undefined) await ctx.reply('There is nothing to undo.');
      else if (undone.length === 0) await ctx.reply('Taken back.');
      else await ctx.reply(['Taken back:', ...undone.map((what) => `• ${shown(what, 150)}`)].join('\n'));
    },
  });
