import { subcommand, z } from '@cinnabar/sdk';
import { authorOf, type CommandParts, placeOf, SHAPE } from './parts.js';
import { resetConversation, resetEverywhere, resetMemories } from './resetting.js';

export const resetCommand = (parts: CommandParts) =>
  subcommand({
    name: 'reset',
    description: 'Start the persona afresh',
    help: [
      '`state` (what is meant by default): who it is and how it feels; `persona undo` brings it back.',
      '`conversation`: what was said in this channel. `memories`: all that it remembers. `everything`: all of that, in every channel where it lives, for good.',
    ].join('\n'),
    access: SHAPE,
    options: {
      what: z.enum(['state', 'conversation', 'memories', 'everything']).default('state').describe('What to clear'),
    },
    async run(ctx, { what }) {
      const place = placeOf(ctx);
      if (what === 'state') await parts.store.reset(place, authorOf(ctx, parts));
      else if (what === 'conversation') await resetConversation(place.channelId, ctx.message?.id, parts);
      else if (what === 'memories') await resetMemories(place, parts);
      else await resetEverywhere(place, ctx.message?.id, parts);
      await ctx.reply(SENTENCES[what]);
    },
  });

const SENTENCES = {
  state: 'The persona is as new. `persona undo` brings back who it was.',
  conversation: 'What was said here is forgotten.',
  memories: 'All memories are gone.',
  everything: 'The persona is as new, and remembers nothing.',
} as const;
