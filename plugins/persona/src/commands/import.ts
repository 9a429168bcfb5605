import { attachmentDownloads, option, subcommand } from '@cinnabar/sdk';
import { downloadCard } from '../cards/download.js';
import { authorOf, type CommandParts, placeOf, SHAPE } from './parts.js';
import { shown } from './show-text.js';

export const importCommand = (parts: CommandParts) =>
  subcommand({
    name: 'import',
    description: 'Take in a character card: V2 or V3, as JSON or as an image',
    help: 'Takes the place of the persona that is here; `persona undo` brings that back. Everything in a card is its author’s text, never a rule for me.',
    access: SHAPE,
    options: { card: option.attachment().describe('The file') },
    async run(ctx, { card }) {
      await ctx.defer();
      const bytes = await downloadCard(card, attachmentDownloads(parts.client, parts));
      const group = ctx.actor.guildId ?? ctx.actor.userId;
      const { state, rest, notes } = await parts.cardFiles.run('importCard', bytes, { group, signal: parts.signal });
      const place = placeOf(ctx);
      const id = await parts.cards.keep(place, rest);
      await parts.store.change(place, authorOf(ctx, parts), `imported ${state.name}`, (draft) => {
        Object.assign(draft, state, { card: id });
      });
      await ctx.reply([`**${shown(state.name)}** is here now.`, ...notes].join('\n'));
    },
  });
