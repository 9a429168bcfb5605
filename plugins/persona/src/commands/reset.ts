import { type AskFirst, type CommandContext, subcommand, UserError, z } from '@cinnabar/sdk';
import { authorOf, type CommandParts, placeOf, SHAPE } from './parts.js';
import { everyConversation, putAsideMemories, resetConversation, resetEverywhere, resetMemories } from './resetting.js';

const WHAT = ['state', 'conversation', 'memories', 'everything'] as const;
type What = (typeof WHAT)[number];

export const resetCommand = (parts: CommandParts, askFirst: AskFirst) =>
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
        throw new UserError('Who it is can always be brought back: leave out `forever`.');
      await askFirst(ctx, {
        content: `This makes the persona forget ${SCOPES[what]}. ${forever ? 'It is deleted **for good** and cannot be undone.' : `\`${ctx.prefix}persona undo\` brings it back.`}`,
        yes: forever ? 'Delete it for good' : 'Reset it',
        async run() {
          await (forever ? deleteForGood(what, ctx, parts) : putAside(what, ctx, parts));
          return `${DONE[what]}${forever ? '' : ` \`${ctx.prefix}persona undo\` brings it back.`}`;
        },
      });
    },
  });

const SCOPES: Readonly<Record<What, string>> = {
  state: 'who it is and how it feels',
  conversation: 'what was said in this channel',
  memories: 'all that it remembers',
  everything: 'who it is, all that it remembers, and what was said in all its channels',
};

const DONE: Readonly<Record<What, string>> = {
  state: 'The persona is as new.',
  conversation: 'What was said here is forgotten.',
  memories: 'All memories are gone.',
  everything: 'The persona is as new, and remembers nothing.',
};

/** All of it is one change, which is undone together. */
async function putAside(what: What, ctx: CommandContext, parts: CommandParts): Promise<void> {
  const { store, conversations, traces } = parts;
  const place = placeOf(ctx);
  const author = authorOf(ctx, parts);
  if (what === 'state' || what === 'everything') await store.reset(place, author);
  if (what === 'memories' || what === 'everything') await putAsideMemories(place, author, parts);
  const channels = what === 'everything' ? await everyConversation(place, parts) : [place.channelId];
  if (what !== 'conversation' && what !== 'everything') return;
  for (const channelId of channels) {
    const clearedAt = await conversations.putAside(channelId, seenIn(channelId, ctx, parts));
    await store.noteReset(place, author, { conversations: [{ channelId, clearedAt }] });
    await traces.clear(channelId);
  }
}

async function deleteForGood(what: What, ctx: CommandContext, parts: CommandParts): Promise<void> {
  const place = placeOf(ctx);
  if (what === 'conversation') await resetConversation(place.channelId, seenIn(place.channelId, ctx, parts), parts);
  else if (what === 'memories') await resetMemories(place, parts);
  else await resetEverywhere(place, (channelId) => seenIn(channelId, ctx, parts), parts);
}

/** The newest message that is not to be looked at again. */
function seenIn(channelId: string, { channel, message }: CommandContext, { client }: CommandParts): string {
  const there = client.channels.cache.get(channelId);
  const latest = there?.isTextBased() === true ? there.lastMessageId : null;
  return latest ?? (channelId === channel.id ? message?.id : undefined) ?? '0';
}
