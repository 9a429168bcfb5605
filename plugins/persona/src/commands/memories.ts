import { type Actor, type CommandContext, subcommand, TIERS, t, UserError, z } from '@cinnabar/sdk';
import { type PersonaContext, placeOf, shown } from '../context.js';
import type { Memory } from '../memory/types.js';

const MOST_SHOWN = 25;

export const memoriesCommand = (persona: PersonaContext) =>
  subcommand({
    name: 'memories',
    description: 'See what the persona remembers of you, and delete it',
    help: [
      '`persona memories` or `persona memories me`: what you told it, and what it was told of you, as far as it may be told here.',
      '`persona memories forget <id>`: deletes one of those for good; `persona memories forget all` deletes them all.',
      '`persona memories all` (mods): what it remembers here, of everybody.',
    ].join('\n'),
    ephemeral: true,
    options: {
      what: z.enum(['me', 'forget', 'all']).default('me').describe('Yours, delete one of yours, or everybody’s (mods)'),
      id: z.string().max(80).optional().describe('Which to delete: its id, or `all`'),
    },
    examples: ['persona memories me', 'persona memories forget all'],
    async run(ctx, { what, id }) {
      if (what === 'forget') await ctx.reply(await forget(ctx, id, persona));
      else if (what === 'me')
        await ctx.reply(
          listing(await ownMemories(persona, ctx.actor), t('I remember nothing that you said, or that is about you.')),
        );
      else {
        await assertMod(ctx, persona);
        const place = await persona.store.memoryPlace(placeOf(ctx));
        await ctx.reply(listing(await persona.memories.list(place), t('I remember nothing that may be told here.')));
      }
    },
  });

/** A member's own statements, and memories about the member, as far as they may be shown in the current place. */
export async function ownMemories({ store, memories }: PersonaContext, actor: Actor): Promise<readonly Memory[]> {
  const { guildId, channelId, userId } = actor;
  return memories.list(await store.memoryPlace({ guildId, channelId }), { of: userId, all: true });
}

/** @throws UserError unless the memory is the member's own (see `ownMemories`) or the member is a moderator */
export async function assertMayForget(persona: PersonaContext, actor: Actor, id: string): Promise<void> {
  const isTheirs = (await ownMemories(persona, actor)).some((memory) => memory.id === id);
  if (!isTheirs && !(await isMod(actor, persona))) throw new UserError(t('There is no memory of yours with that id.'));
}

/** Deletes one memory, or with `all` those of the member. Moderators may delete every memory that may be shown in the place. */
async function forget(ctx: CommandContext, id: string | undefined, persona: PersonaContext): Promise<string> {
  if (id === undefined) throw new UserError(t('Which one? Its id stands in front of it; `all` deletes all of yours.'));
  const place = await persona.store.memoryPlace(placeOf(ctx));
  const theirs = await ownMemories(persona, ctx.actor);
  const ids = id === 'all' ? theirs.map((memory) => memory.id) : [id];
  if (id !== 'all') await assertMayForget(persona, ctx.actor, id);
  let gone = 0;
  for (const each of ids) gone += await persona.memories.remove(place, each);
  await persona.traces.forgetEverywhere({ memoryIds: ids });
  if (gone === 0) throw new UserError(t('There is nothing to forget.'));
  return t('{gone, plural, one {Forgotten for good.} other {# memories are forgotten for good.}}', { gone });
}

function listing(memories: readonly Memory[], none: string): string {
  if (memories.length === 0) return none;
  const lines = memories.slice(0, MOST_SHOWN).map(({ id, text, at, supersededBy, setAsideAt }) => {
    const plain = shown(text);
    const told =
      supersededBy !== null
        ? t('{text} *(no longer true)*', { text: plain })
        : setAsideAt !== null
          ? t('{text} *(put out of mind)*', { text: plain })
          : plain;
    return `\`${id}\` ${told} · <t:${Math.floor(at / 1000)}:d>`;
  });
  const more = memories.length - lines.length;
  return [...lines, ...(more > 0 ? [t('… and {more} more', { more })] : [])].join('\n');
}

async function isMod(actor: Actor, { access }: PersonaContext): Promise<boolean> {
  return actor.guildId === null || TIERS.indexOf(await access.tierOf(actor)) >= TIERS.indexOf('mod');
}

async function assertMod(ctx: CommandContext, persona: PersonaContext): Promise<void> {
  if (!(await isMod(ctx.actor, persona)))
    throw new UserError(t('Only moderators may see what I remember of everybody.'));
}
