import { type CommandContext, option, type PersonaEvent, subcommand, t, translated, UserError, z } from '@cinnabar/sdk';
import { authorOf, listed, type PersonaContext, placeOf, SHAPE, shown } from '../context.js';
import { selfName } from '../running/run-context.js';
import { addItem, LIMITS, NEW_STATE, removeItem, type State, tidy, visibleTo, type Wish } from '../state/state.js';
export const showCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'show',
    description: 'Show who the persona is, and how it feels',
    async run(ctx) {
      const { state, version } = await persona.store.read(placeOf(ctx));
      const told = persona.store.audienceAt(placeOf(ctx));
      const { kind } = await persona.store.home(placeOf(ctx));
      const { mood, appearance, environment } = state;
      const name = shown(nameIn(ctx, state.name));
      await ctx.reply(
        [
          kind === 'guild'
            ? t('**{name}** (everywhere in this server, version {version})', { name, version })
            : t('**{name}** (in this channel, version {version})', { name, version }),
          shown(inOurWords(state.description, NEW_STATE.description), 600),
          t('**Mood** {mood} ({intensity} of 10)', { mood: moodText(mood), intensity: mood.intensity }),
          ...(appearance === '' ? [] : [t('**Appearance** {text}', { text: shown(appearance) })]),
          ...(environment === '' ? [] : [t('**Environment** {text}', { text: shown(environment) })]),
          ...listed(
            t('Goals'),
            visibleTo(state.goals, told).map(({ text }) => text),
          ),
          ...listed(
            t('Desires'),
            visibleTo(state.desires, told).map(({ text }) => text),
          ),
        ].join('\n'),
      );
    },
  });

/** The persona's name in the place of the command. */
export function nameIn({ channel, guild, message }: CommandContext, own: string): string {
  if (channel.isSendable()) return selfName(own, channel);
  return own || (guild?.members.me?.displayName ?? message?.client.user.displayName ?? t('the persona'));
}

/** Translates a default text; other texts stay as their author wrote them. */
export const inOurWords = (text: string, byDefault: string) => (text === byDefault ? translated(text) : text);

const moodText = ({ name }: State['mood']) => shown(inOurWords(name, NEW_STATE.mood.name));

export const moodCommand = (persona: PersonaContext) =>
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
        if (name === '') throw new UserError(t('That mood has nothing readable in it.'));
        await persona.store.change(placeOf(ctx), authorOf(ctx, persona), `mood: ${name} (${intensity})`, (state) => {
          state.mood = { name, intensity };
        });
      }
      const { state } = await persona.store.read(placeOf(ctx));
      await ctx.reply(
        t('Mood: {mood} ({intensity} of 10)', { mood: moodText(state.mood), intensity: state.mood.intensity }),
      );
    },
  });

interface Wishes {
  readonly key: 'goals' | 'desires';
  readonly one: Wish;
  readonly description: string;
  readonly textDescription: string;
  readonly example: string;
}

export const goalsCommand = (persona: PersonaContext) =>
  wishesCommand(persona, {
    key: 'goals',
    one: 'goal',
    description: 'Show what the persona wants to achieve; add or remove a goal (admins)',
    textDescription: 'The goal; to remove one, its number is enough',
    example: 'Learn everybody’s birthday',
  });

export const desiresCommand = (persona: PersonaContext) =>
  wishesCommand(persona, {
    key: 'desires',
    one: 'desire',
    description: 'Show what the persona wants here and now; add or remove a desire (admins)',
    textDescription: 'The desire; to remove one, its number is enough',
    example: 'Hear a good story',
  });

function wishesCommand(persona: PersonaContext, { key, one, description, textDescription, example }: Wishes) {
  return subcommand({
    name: key,
    description,
    options: {
      change: z.enum(['list', 'add', 'remove']).default('list').describe('What to do'),
      text: option.rest().optional().describe(textDescription),
    },
    examples: [`persona ${key}`, `persona ${key} add ${example}`, `persona ${key} remove 1`],
    async run(ctx, { change, text: given = '' }) {
      if (change !== 'list') {
        await ctx.requireAccess(SHAPE);
        const text = tidy(given, LIMITS.short);
        if (text === '')
          throw new UserError(t('Which {one, select, goal {goal} other {desire}}? Write it after the word.', { one }));
        await persona.store.change(placeOf(ctx), authorOf(ctx, persona), `${change} ${one}: ${text}`, (state, at) => {
          if (change === 'add') addItem(state[key], { text, userId: ctx.actor.userId, at }, one);
          else removeItem(state[key], text, at, one);
        });
      }
      const { state } = await persona.store.read(placeOf(ctx));
      const texts = visibleTo(state[key], persona.store.audienceAt(placeOf(ctx))).map(({ text }) => text);
      const lines = listed(key === 'goals' ? t('Goals') : t('Desires'), texts);
      const none = () => t('It has no {key, select, goals {goals} other {desires}}.', { key });
      await ctx.reply(lines.length === 0 ? none() : lines.join('\n'));
    },
  });
}

export const undoCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'undo',
    description: 'Take back the latest change of the persona',
    help: 'What it changed in the course of one answer is taken back together, with the memories that it added or put out of mind. Can be repeated.',
    access: SHAPE,
    async run(ctx) {
      const undone = await persona.store.undo(placeOf(ctx));
      if (undone === undefined) await ctx.reply(t('There is nothing to undo.'));
      else if (undone.length === 0) await ctx.reply(t('Taken back.'));
      else await ctx.reply([t('Taken back:'), ...undone.map((what) => `• ${shown(what, 150)}`)].join('\n'));
    },
  });

export const traceCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'trace',
    description: 'Show what the persona did in its latest runs here, step by step',
    help: 'Thoughts are shown in the answer to the slash command alone, which only you see, and where the setting `thoughts` says so.',
    access: { tier: 'mod' },
    ephemeral: true,
    options: { runs: z.number().int().min(1).max(8).default(1).describe('How many runs back') },
    async run(ctx, { runs }) {
      const { channelId, guildId } = placeOf(ctx);
      const events = await persona.traces.recent(channelId);
      const sessions = [...new Set(events.map(({ sessionId }) => sessionId))].slice(-runs);
      if (sessions.length === 0) {
        await ctx.reply(t('The persona has not done anything here yet.'));
        return;
      }
      const showsThoughts = isPrivate(ctx) && (await persona.settingsFor(guildId)).thoughts === 'trace';
      const lines = sessions.flatMap((session) =>
        events.filter(({ sessionId }) => sessionId === session).map((event) => lineFor(event, showsThoughts)),
      );
      await ctx.reply(lines.join('\n'));
    },
  });

/** Whether the answer is visible to the caller only. */
function isPrivate({ source, actor }: CommandContext): boolean {
  return source === 'slash' || actor.guildId === null;
}

function lineFor(event: PersonaEvent, showsThoughts: boolean): string {
  switch (event.type) {
    case 'tool-started':
      return `▸ ${event.tool}${event.parameters.context === '' ? '' : `: ${shown(event.parameters.context, 150)}`}`;
    case 'tool-finished':
      return `${event.failed ? '✗' : '✓'} ${event.tool}: ${shown(event.result, 200)}`;
    case 'text':
      if (!event.isThought) return `💬 ${shown(event.content, 200)}`;
      return `💭 ${showsThoughts ? shown(event.content, 400) : t('(a thought)')}`;
    case 'system':
      return `• ${event.event}: ${shown(event.message, 200)}${showsThoughts && event.reasoning ? ` — ${shown(event.reasoning, 300)}` : ''}`;
  }
}
