import { type AskFirst, type CommandContext, type PersonaPlace, subcommand, UserError, z } from '@cinnabar/sdk';
import type { PersonaContext } from '../context.js';
import type { Author } from '../state/persona-store.js';
import { authorOf, placeOf, SHAPE } from './command-context.js';

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
        throw new UserError('Who it is can always be brought back: leave out `forever`.');
      await askFirst(ctx, {
        content: `This makes the persona forget ${SCOPES[what]}. ${forever ? 'It is deleted **for good** and cannot be undone.' : `\`${ctx.prefix}persona undo\` brings it back.`}`,
        yes: forever ? 'Delete it for good' : 'Reset it',
        async run() {
          await (forever ? deleteForGood(what, ctx, persona) : putAside(what, ctx, persona));
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

/** The newest message that is not to be looked at again. */
function seenIn(channelId: string, { channel, message }: CommandContext, { client }: PersonaContext): string {
  const there = client.channels.cache.get(channelId);
  const latest = there?.isTextBased() === true ? there.lastMessageId : null;
  return latest ?? (channelId === channel.id ? message?.id : undefined) ?? '0';
}

/** Forgets what was said in one channel, for good. @param seenId the newest message that is not to be looked at again */
async function resetConversation(
  channelId: string,
  seenId: string,
  { conversations, traces }: PersonaContext,
): Promise<void> {
  await conversations.clear(channelId, seenId);
  await traces.clear(channelId);
}

/** Deletes all that is remembered, and the traces of runs that had it in mind. */
async function resetMemories(place: PersonaPlace, persona: PersonaContext): Promise<void> {
  await persona.memories.clear(await persona.store.memoryPlace(place));
  await clearTraces(place, persona);
}

/** Puts all that is remembered out of mind, until the change is undone. */
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

/** Deletes the persona, what it remembers, and what was said in all its channels. */
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

/** The channels in which the persona has heard something. */
async function everyConversation(place: PersonaPlace, persona: PersonaContext): Promise<readonly string[]> {
  return channelsOf(place, await persona.conversations.channels(), persona);
}

/** Those in which the same persona lives, as far as they are in the cache: archived threads are not. */
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
