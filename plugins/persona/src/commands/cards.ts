import {
  attachmentDownloads,
  type DownloadOptions,
  downloadAttachment,
  option,
  subcommand,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Attachment } from 'discord.js';
import { type CardNote, type CardProblem, MOST_FILE_BYTES, OWN_EXTENSION } from '../cards/read-card.js';
import { authorOf, type PersonaContext, placeOf, SHAPE, shown } from '../context.js';
import type { State } from '../state/state.js';
import { nameIn } from './state.js';

export const importCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'import',
    description: 'Take in a character card: V2 or V3, as JSON or as an image',
    help: 'Takes the place of the persona that is here; `persona undo` brings that back. Everything in a card is its author’s text, never a rule for me.',
    access: SHAPE,
    options: { card: option.attachment().describe('The file') },
    async run(ctx, { card }) {
      await ctx.defer();
      const bytes = await downloadCard(card, attachmentDownloads(persona.client, persona));
      const group = ctx.actor.guildId ?? ctx.actor.userId;
      const imported = await persona.cardFiles.run('importCard', bytes, { group, signal: persona.signal });
      if ('problem' in imported) throw new UserError(problemText(imported.problem));
      const { state, rest, notes } = imported;
      const place = placeOf(ctx);
      const id = await persona.cards.keep(place, rest);
      await persona.store.change(place, authorOf(ctx, persona), `imported: ${state.name}`, (draft) => {
        Object.assign(draft, state, { card: id });
      });
      await ctx.reply([t('**{name}** is here now.', { name: shown(state.name) }), ...notes.map(noteText)].join('\n'));
    },
  });

export const exportCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'export',
    reads: true,
    description: 'Get the persona as a character card',
    help: 'Its memories and conversations stay here.',
    access: SHAPE,
    ephemeral: true,
    options: { version: z.enum(['v2', 'v3']).default('v3').describe('Which format') },
    async run(ctx, { version }) {
      const { state } = await persona.store.read(placeOf(ctx));
      const name = nameIn(ctx, state.name);
      const json = writeCard(state, name, await persona.cards.rest(placeOf(ctx)), version);
      const file = `${
        name
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '-')
          .replace(/^-+|-+$/g, '') || 'persona'
      }.${version}.json`;
      await ctx.reply({ content: t('Here is its card:'), files: [{ attachment: Buffer.from(json), name: file }] });
    },
  });

function problemText(problem: CardProblem): string {
  switch (problem.kind) {
    case 'damaged':
      return t('This image is damaged: its parts are not as long as they say.');
    case 'absent':
      return t('There is no character card in this image.');
    case 'packed':
      return t('The character card in this image cannot be unpacked.');
    case 'file-too-large':
      return t('This file is too large for a character card.');
    case 'too-long':
      return problem.isImage
        ? t('The character card in this image is longer than {kilobytes} KB.', { kilobytes: problem.kilobytes })
        : t('This character card is longer than {kilobytes} KB.', { kilobytes: problem.kilobytes });
    case 'unreadable':
      return t('This is no character card that I can read: it is neither JSON nor an image with JSON in it.');
    case 'format':
      return t('This is no character card that I can read: it has to be of format V2 or V3.');
    case 'nameless':
      return t('This character card has no name that could be used.');
    case 'field':
      return problem.expected === undefined
        ? t('This is no character card that I can read. {path} is not right.', { path: problem.path })
        : t(
            'This is no character card that I can read. {path} has to be {expected, select, string {a text} number {a number} array {a list} other {an object}}.',
            { path: problem.path, expected: problem.expected },
          );
  }
}

function noteText(note: CardNote): string {
  if (note.kind === 'rest') return t('What it holds beside the character is too long to be kept for an export.');
  return t(
    'Its {field, select, description {description} personality {personality} scenario {scenario} greeting {first message} examples {example dialogue} instructions {system prompt} other {closing instructions}} was cut to {most} characters.',
    { field: note.field, most: note.most },
  );
}

/** Fetches the file of a character card. @throws UserError */
async function downloadCard(
  { url, size }: Pick<Attachment, 'url' | 'size'>,
  options: Omit<DownloadOptions, 'maxBytes' | 'cut'>,
): Promise<Buffer> {
  if (size > MOST_FILE_BYTES)
    throw new UserError(
      t('This file is too large: a character card has at most {most} MB.', { most: MOST_FILE_BYTES / 1024 / 1024 }),
    );
  const address = new URL(url);
  if (!options.mayFetch(address)) throw new UserError(t('I only read files that are attached on Discord.'));
  const bytes = await downloadAttachment(address, { ...options, maxBytes: MOST_FILE_BYTES });
  if (typeof bytes === 'string')
    throw new UserError(t('This file cannot be fetched from Discord at the moment. Please try again.'));
  return bytes;
}

type CardVersion = 'v2' | 'v3';

const REST = z.looseObject({ extensions: z.record(z.string(), z.unknown()).nullish() });

/**
 * A persona as a character card, including the additional data of an imported card.
 * @param rest as returned by `applyCard`; empty for a persona that was created here
 */
function writeCard(state: State, name: string, rest: string, version: CardVersion): string {
  const before = REST.safeParse(rest === '' ? {} : JSON.parse(rest)).data ?? {};
  const { profile, mood, appearance, environment } = state;
  const own = { mood, appearance, environment, goals: textsOf(state.goals), desires: textsOf(state.desires) };
  const { nickname: _nickname, group_only_greetings: groupOnly, source, ...known } = before;
  const data = {
    creator_notes: '',
    alternate_greetings: [],
    tags: [],
    creator: '',
    character_version: '',
    ...known,
    name,
    description: state.description,
    personality: profile.personality,
    scenario: profile.scenario,
    first_mes: profile.greeting,
    mes_example: profile.examples,
    system_prompt: profile.instructions,
    post_history_instructions: profile.closing,
    extensions: { ...before.extensions, [OWN_EXTENSION]: own },
  };
  const card =
    version === 'v2'
      ? { spec: 'chara_card_v2', spec_version: '2.0', data }
      : {
          spec: 'chara_card_v3',
          spec_version: '3.0',
          data: { ...data, group_only_greetings: groupOnly ?? [], ...(source === undefined ? {} : { source }) },
        };
  return `${JSON.stringify(card, null, 2)}\n`;
}

/** Texts from conversations are not exported. */
function textsOf(items: State['goals']): readonly string[] {
  return items.filter(({ origin }) => origin === null).map(({ text }) => text);
}
