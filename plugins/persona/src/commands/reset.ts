import { type CommandContext, subcommand, z } from '@cinnabar/sdk';
import { authorOf, type CommandParts, placeOf, SHAPE } from './parts.js';

export const resetCommand = (parts: CommandParts) =>
  subcommand({
    name: 'reset',
    description: 'Start the persona afresh',
    help: [
      '`state` (what is meant by default): who it is and how it feels; `persona undo` brings it back.',
      '`conversation`: what was said in this channel. `memories`: all that it remembers. Neither can be brought back. `everything`: all of that.',
    ].join('\n'),
    access: SHAPE,
    options: {
      what: z.enum(['state', 'conversation', 'memories', 'everything']).default('state').describe('What to clear'),
    },
    async run(ctx, { what }) {
      const place = placeOf(ctx);
      const all = what === 'everything';
      if (all || what === 'conversation') {
        await parts.conversations.clear(place.channelId, newestIn(ctx));
        await parts.traces.clear(place.channelId);
      }
      if (all || what === 'memories') await parts.memories.clear(await parts.store.memoryPlace(place));
      if (all || what === 'state') {
        await parts.store.reset(place, authorOf(ctx, parts));
      }
      await ctx.reply(SENTENCES[what]);
    },
  });

function newestIn({ channel, message }: CommandContext): string {
  return message?.id ?? ('lastMessageId' in channel ? channel.lastMessageId : null) ?? '0';
}

const SENTENCES = {
  state: 'The persona is as new. `persona undo` brings back who it was.',
  conversation: 'What was said here is forgotten.',
  memories: 'All memories are gone.',
  everything: 'The persona is as new, and remembers nothing.',
} as const;
