import {
  type AskFirst,
  type CommandContext,
  type ComponentHandle,
  type ComponentInteraction,
  option,
  type PersonaPlace,
  type Registrar,
  sanitizeName,
  subcommand,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import {
  ActionRowBuilder,
  ButtonStyle,
  ComponentType,
  MessageFlags,
  ModalBuilder,
  type ModalSubmitInteraction,
  TextInputBuilder,
  TextInputStyle,
} from 'discord.js';
import { authorOf, type PersonaContext, placeOf, SHAPE, shown } from '../context.js';
import type { Author } from '../state/persona-store.js';
import { LIMITS, NEW_STATE, type State, tidy } from '../state/state.js';
export const createCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'create',
    description: 'Make a new persona here: its name, and who it is',
    help: 'Takes the place of the one that is here; `persona undo` brings that back. Memories and conversations stay: `persona reset` clears those.',
    access: SHAPE,
    options: {
      name: z.string().min(1).max(LIMITS.name).describe('What it is called'),
      description: option.rest().describe('Who it is, in a few sentences'),
    },
    examples: ['persona create Judy A braindance technician who trusts few people and loves bad puns.'],
    async run(ctx, { name, description }) {
      const plain = sanitizeName(name);
      if (plain === '') throw unreadableName();
      const stored = await persona.store.change(placeOf(ctx), authorOf(ctx, persona), `created: ${plain}`, (state) => {
        Object.assign(state, structuredClone(NEW_STATE), {
          name: plain,
          description: tidy(description, LIMITS.description),
        });
      });
      await ctx.reply(
        t('**{name}** is here now. `{prefix}ai use persona` lets it answer.', {
          name: shown(stored.state.name),
          prefix: ctx.prefix,
        }),
      );
    },
  });

const unreadableName = () => new UserError(t('That name has nothing readable in it.'));

const FIELDS = ['name', 'description', 'appearance', 'environment', 'personality'] as const;
type Field = (typeof FIELDS)[number];

const FIELD_LIMITS: Readonly<Record<Field, number>> = {
  name: LIMITS.name,
  description: LIMITS.description,
  appearance: LIMITS.short,
  environment: LIMITS.short,
  personality: LIMITS.profile,
};

function fieldOf(state: State, field: Field): string {
  return field === 'personality' ? state.profile.personality : state[field];
}

/** @throws UserError for a name without a readable character */
function setField(state: State, field: Field, text: string): void {
  const value = field === 'name' ? sanitizeName(text) : tidy(text, FIELD_LIMITS[field]);
  if (field === 'name' && value === '') throw unreadableName();
  if (field === 'personality') state.profile.personality = value;
  else state[field] = value;
}

export const editCommand = (persona: PersonaContext, form: ComponentHandle) =>
  subcommand({
    name: 'edit',
    description: 'Change who the persona is: one thing at once, or in a form',
    access: SHAPE,
    ephemeral: true,
    options: {
      field: z.enum(FIELDS).optional().describe('What to change; without it you get a form'),
      text: option.rest().optional().describe('What it should be'),
    },
    examples: ['persona edit', 'persona edit appearance Green hair, and a jacket full of patches.'],
    async run(ctx, { field, text }) {
      if (field === undefined) {
        const button = {
          type: ComponentType.Button,
          style: ButtonStyle.Primary,
          label: t('Open the form'),
          custom_id: form.customId(),
        } as const;
        await ctx.reply({
          content: t('Here is the form:'),
          components: [{ type: ComponentType.ActionRow, components: [button] }],
        });
        return;
      }
      if (text === undefined)
        throw new UserError(
          t(
            'What should its {field, select, name {name} description {description} appearance {appearance} environment {environment} other {personality}} be? Write that after the word.',
            { field },
          ),
        );
      const author = authorOf(ctx, persona);
      const { state } = await persona.store.change(placeOf(ctx), author, `${field}: ${text}`, (draft) =>
        setField(draft, field, text),
      );
      await ctx.reply(
        t(
          'Its {field, select, name {name} description {description} appearance {appearance} environment {environment} other {personality}} is now: {text}',
          { field, text: shown(fieldOf(state, field)) },
        ),
      );
    },
  });

/** Discord's limit for one field of a modal. */
const MOST_CHARACTERS = 4_000;

/** The button that opens the form, and the form. */
export function registerForm({ component }: Pick<Registrar, 'component'>, persona: PersonaContext): ComponentHandle {
  const modal = component({
    name: 'edit',
    access: SHAPE,
    run: (interaction) => (interaction.isModalSubmit() ? takeIn(interaction, persona) : undefined),
  });
  return component({
    name: 'open-form',
    access: SHAPE,
    async run(interaction) {
      if (interaction.isModalSubmit()) return;
      const { state } = await persona.store.read(placeOfInteraction(interaction));
      await interaction.showModal(formFor(state, modal.customId()));
    },
  });
}

function formFor(state: State, customId: string): ModalBuilder {
  return new ModalBuilder()
    .setCustomId(customId)
    .setTitle(t('Who the persona is'))
    .addComponents(
      editable(state).map((field) => new ActionRowBuilder<TextInputBuilder>().addComponents(inputFor(state, field))),
    );
}

/** Omits texts that are longer than a field of a form, because Discord would cut them off. */
function editable(state: State): readonly Field[] {
  return FIELDS.filter((field) => fieldOf(state, field).length <= MOST_CHARACTERS);
}

function inputFor(state: State, field: Field): TextInputBuilder {
  const input = new TextInputBuilder()
    .setCustomId(field)
    .setLabel(labelOf(field))
    .setStyle(field === 'name' ? TextInputStyle.Short : TextInputStyle.Paragraph)
    .setMaxLength(Math.min(FIELD_LIMITS[field], MOST_CHARACTERS))
    .setRequired(field === 'name');
  const value = fieldOf(state, field);
  return value === '' ? input : input.setValue(value);
}

function labelOf(field: Field): string {
  switch (field) {
    case 'name':
      return t('Name');
    case 'description':
      return t('Description');
    case 'appearance':
      return t('Appearance');
    case 'environment':
      return t('Environment');
    case 'personality':
      return t('Personality');
  }
}

async function takeIn(interaction: ModalSubmitInteraction, { store, random }: PersonaContext): Promise<void> {
  const place = placeOfInteraction(interaction);
  const { state } = await store.read(place);
  const given = editable(state).flatMap((field) => {
    const text = interaction.fields.fields.has(field)
      ? interaction.fields.getTextInputValue(field)
      : fieldOf(state, field);
    return text === fieldOf(state, field) ? [] : [{ field, text }];
  });
  const author = { sessionId: random.id(), userId: interaction.user.id, channelId: null };
  const { state: changed } = await store.change(
    place,
    author,
    `edited: ${given.map(({ field }) => field).join(', ')}`,
    (draft) => {
      for (const { field, text } of given) setField(draft, field, text);
    },
  );
  const content =
    given.length === 0 ? t('Nothing has changed.') : t('**{name}** is up to date.', { name: shown(changed.name) });
  await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}

function placeOfInteraction({ guildId, channelId }: ComponentInteraction): PersonaPlace {
  return { guildId, channelId: channelId ?? '' };
}

const WHAT = ['state', 'conversation', 'memories', 'everything'] as const;
type What = (typeof WHAT)[number];

export const resetCommand = (persona: PersonaContext, askFirst: AskFirst) =>
  subcommand({
    name: 'reset',
    description: 'Start the persona afresh; asks first, and can be undone',
    help: [
      '`state` (what is meant by default): who it is and how it feels. `conversation`: what was said in this channel.',
      '`memories`: all that it remembers. `everything`: all of that, in every channel where it lives.',
      '`persona undo` brings it back. With `forever:true` it is deleted for good instead.',
    ].join('\n'),
    access: SHAPE,
    options: {
      what: z.enum(WHAT).default('state').describe('What to clear'),
      forever: z.boolean().default(false).describe('Delete it for good: it cannot be undone'),
    },
    examples: ['persona reset', 'persona reset memories', 'persona reset everything forever:true'],
    async run(ctx, { what, forever }) {
      if (forever && what === 'state')
        throw new UserError(t('Who it is can always be brought back: leave out `forever`.'));
      await askFirst(ctx, {
        content: [
          t(
            'This makes the persona forget {what, select, state {who it is and how it feels} conversation {what was said in this channel} memories {all that it remembers} other {who it is, all that it remembers, and what was said in all its channels}}.',
            { what },
          ),
          forever ? t('It is deleted **for good** and cannot be undone.') : undoHint(ctx),
        ].join(' '),
        yes: forever ? t('Delete it for good') : t('Reset it'),
        async run() {
          await (forever ? deleteForGood(what, ctx, persona) : putAside(what, ctx, persona));
          return forever ? doneText(what) : `${doneText(what)} ${undoHint(ctx)}`;
        },
      });
    },
  });

const undoHint = ({ prefix }: CommandContext) => t('`{prefix}persona undo` brings it back.', { prefix });

function doneText(what: What): string {
  switch (what) {
    case 'state':
      return t('The persona is as new.');
    case 'conversation':
      return t('The conversation here is deleted.');
    case 'memories':
      return t('All memories are gone.');
    case 'everything':
      return t('The persona is as new, and remembers nothing.');
  }
}

/** Records everything that is set aside under one session, so that one undo restores all of it. */
async function putAside(what: What, ctx: CommandContext, persona: PersonaContext): Promise<void> {
  const { store, conversations, traces } = persona;
  const place = placeOf(ctx);
  const author = authorOf(ctx, persona);
  if (what === 'state' || what === 'everything') await store.reset(place, author);
  if (what === 'memories' || what === 'everything') await putAsideMemories(place, author, persona);
  const channels = what === 'everything' ? await everyConversation(place, persona) : [place.channelId];
  if (what !== 'conversation' && what !== 'everything') return;
  for (const channelId of channels) {
    const clearedAt = await conversations.putAside(channelId, seenIn(channelId, ctx, persona));
    await store.noteReset(place, author, { conversations: [{ channelId, clearedAt }] });
    await traces.clear(channelId);
  }
}

async function deleteForGood(what: What, ctx: CommandContext, persona: PersonaContext): Promise<void> {
  const place = placeOf(ctx);
  if (what === 'conversation') await resetConversation(place.channelId, seenIn(place.channelId, ctx, persona), persona);
  else if (what === 'memories') await resetMemories(place, persona);
  else await resetEverywhere(place, (channelId) => seenIn(channelId, ctx, persona), persona);
}

/** The newest message that later runs must not read. */
function seenIn(channelId: string, { channel, message }: CommandContext, { client }: PersonaContext): string {
  const there = client.channels.cache.get(channelId);
  const latest = there?.isTextBased() === true ? there.lastMessageId : null;
  return latest ?? (channelId === channel.id ? message?.id : undefined) ?? '0';
}

/** Deletes what was said in one channel. @param seenId the newest message that later runs must not read */
async function resetConversation(
  channelId: string,
  seenId: string,
  { conversations, traces }: PersonaContext,
): Promise<void> {
  await conversations.clear(channelId, seenId);
  await traces.clear(channelId);
}

/** Deletes all memories, and all traces, which may quote them. */
async function resetMemories(place: PersonaPlace, persona: PersonaContext): Promise<void> {
  await persona.memories.clear(await persona.store.memoryPlace(place));
  await clearTraces(place, persona);
}

/** Sets all memories aside; an undo restores them. Traces are deleted. */
async function putAsideMemories(place: PersonaPlace, author: Author, persona: PersonaContext): Promise<void> {
  const at = await persona.memories.setAsideAll(await persona.store.memoryPlace(place));
  if (at !== undefined) await persona.store.noteReset(place, author, { memoriesAt: at });
  await clearTraces(place, persona);
}

async function clearTraces(place: PersonaPlace, persona: PersonaContext): Promise<void> {
  for (const channelId of await channelsOf(place, await persona.traces.channels(), persona)) {
    await persona.traces.clear(channelId);
  }
}

/** Deletes the persona, its memories, and the conversations of all its channels. */
async function resetEverywhere(
  place: PersonaPlace,
  seenIn: (channelId: string) => string,
  persona: PersonaContext,
): Promise<void> {
  await resetMemories(place, persona);
  for (const channelId of await everyConversation(place, persona)) {
    await resetConversation(channelId, seenIn(channelId), persona);
  }
  await persona.store.wipe(place);
}

/** The persona's channels with stored lines. */
async function everyConversation(place: PersonaPlace, persona: PersonaContext): Promise<readonly string[]> {
  return channelsOf(place, await persona.conversations.channels(), persona);
}

/** Those of the channels and cached threads that share the persona of the place; archived threads are not cached. */
async function channelsOf(
  place: PersonaPlace,
  channelIds: readonly string[],
  { client, store }: PersonaContext,
): Promise<readonly string[]> {
  const { id } = await store.home(place);
  const found: string[] = [place.channelId];
  for (const channelId of channelIds) {
    const channel = client.channels.cache.get(channelId);
    if (channelId === place.channelId || channel === undefined || channel.isDMBased()) continue;
    const { guildId } = channel;
    if (guildId === place.guildId && (await store.home({ guildId, channelId })).id === id) found.push(channelId);
  }
  return found;
}
