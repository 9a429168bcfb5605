import {
  attachmentDownloads,
  type DownloadOptions,
  downloadAttachment,
  option,
  subcommand,
  UserError,
  z,
} from '@cinnabar/sdk';
import type { Attachment } from 'discord.js';
import { MOST_FILE_BYTES } from '../cards/read-card.js';
import { writeCard } from '../cards/write-card.js';
import type { PersonaContext } from '../context.js';
import { authorOf, placeOf, SHAPE, shown } from './command-context.js';
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
      const { state, rest, notes } = await persona.cardFiles.run('importCard', bytes, {
        group,
        signal: persona.signal,
      });
      const place = placeOf(ctx);
      const id = await persona.cards.keep(place, rest);
      await persona.store.change(place, authorOf(ctx, persona), `imported ${state.name}`, (draft) => {
        Object.assign(draft, state, { card: id });
      });
      await ctx.reply([`**${shown(state.name)}** is here now.`, ...notes].join('\n'));
    },
  });

export const exportCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'export',
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
      await ctx.reply({ content: 'Here is its card:', files: [{ attachment: Buffer.from(json), name: file }] });
    },
  });

const TOO_LARGE = `This file is too large: a character card has at most ${MOST_FILE_BYTES / 1024 / 1024} MB.`;
const GONE = 'This file cannot be fetched from Discord at the moment. Please try again.';

/** Fetches the file of a character card. @throws UserError */
async function downloadCard(
  { url, size }: Pick<Attachment, 'url' | 'size'>,
  options: Omit<DownloadOptions, 'maxBytes' | 'cut'>,
): Promise<Buffer> {
  if (size > MOST_FILE_BYTES) throw new UserError(TOO_LARGE);
  const address = new URL(url);
  if (!options.mayFetch(address)) throw new UserError('I only read files that are attached on Discord.');
  const bytes = await downloadAttachment(address, { ...options, maxBytes: MOST_FILE_BYTES });
  if (typeof bytes === 'string') throw new UserError(GONE);
  return bytes;
}
