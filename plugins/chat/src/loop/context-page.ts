import { type Turn, t, UserError, type WebBlock, type WebRequest } from '@cinnabar/sdk';
import type { BuiltContext, ContextPiece } from '../context/types.js';
import type { ChatContext, ChatParts } from '../plugin-context.js';
import { prepare } from './request.js';

/** What the next request in a channel would hold, and what of it the cache is expected to give. Sizes alone: whose words they are, `ai prompt` tells. */
export function registerContextPage({ page, client }: Pick<ChatContext, 'page' | 'client'>, parts: ChatParts): void {
  /** @throws UserError where the person, or the bot, cannot read the channel */
  const turnIn = async ({ actor, query: { channel: channelId = '' } }: WebRequest): Promise<Turn> => {
    const { guildId, userId } = actor;
    const mayRead =
      guildId !== null && (await parts.access.mayEnter(actor, { guildId, channelId }, ['ReadMessageHistory']));
    const channel = mayRead ? await client.channels.fetch(channelId) : null;
    if (channel?.isSendable() !== true || channel.isDMBased())
      throw new UserError(t('There is no such channel that you and I can read.'));
    const { guild } = channel;
    const member = await guild.members.fetch(userId);
    return {
      id: parts.random.id(),
      trigger: 'activate',
      text: '',
      earlier: [],
      actor: { userId, guildId, channelId },
      user: member.user,
      member,
      guild,
      channel,
      message: null,
      signal: parts.signal,
      reply: () => Promise.reject(new Error('a page answers nobody')),
    };
  };

  page({
    name: 'context',
    title: 'Context',
    description: 'What a model would be given in a channel next, and what of it comes from the cache.',
    about: 'guild',
    group: 'agents',
    access: { tier: 'admin' },
    async view(request) {
      const { channel } = request.query;
      const search: WebBlock = {
        kind: 'search',
        fields: [
          {
            name: 'channel',
            label: t('Channel'),
            control: { kind: 'channel' },
            ...(channel === undefined ? {} : { value: channel }),
          },
        ],
        submit: t('Show its context'),
      };
      if (channel === undefined) return { blocks: [search] };
      const turn = await turnIn(request);
      const { llm } = parts;
      if (llm === undefined) throw new UserError(t('No language model is set up.'));
      const { built, traits } = await prepare(turn, { ...parts, llm });
      return { blocks: [search, ...contextBlocks(built, `${traits.provider}/${traits.model}`)] };
    },
  });
}

function contextBlocks({ facts, pieces, request }: BuiltContext, model: string): readonly WebBlock[] {
  const tokensIn = (cache: ContextPiece['cache']) =>
    pieces.reduce((sum, piece) => sum + (piece.cache === cache ? piece.tokens : 0), 0);
  return [
    {
      kind: 'figures',
      figures: [
        { name: t('Tokens'), value: facts.estimatedTokens, hint: t('estimated') },
        { name: t('Read from the cache'), value: tokensIn('read') },
        { name: t('Written to the cache'), value: tokensIn('written') },
        { name: t('Neither'), value: tokensIn('fresh') },
      ],
    },
    {
      kind: 'table',
      title: t('In the order of the request'),
      columns: [
        { name: t('Part') },
        { name: t('Tokens'), numeric: true },
        { name: t('Cache') },
        { name: t('Breakpoint at its end') },
      ],
      rows: pieces.map((piece, index) => ({
        id: String(index),
        cells: [nameOf(piece), piece.tokens, badgeOf(piece), breakpointOf(piece)],
      })),
      empty: '',
    },
    {
      kind: 'facts',
      facts: [
        { name: t('Model'), value: `${model} · ${request.mode ?? 'chat'}` },
        { name: t('Messages of Discord'), value: facts.messages },
        { name: t('Not shown to the model'), value: facts.hidden },
        { name: t('Images'), value: facts.images },
        { name: t('Window'), value: facts.windowRule },
        { name: t('Cache'), value: facts.plan },
        ...(facts.expectedMiss === undefined ? [] : [{ name: t('Cache miss'), value: facts.expectedMiss }]),
      ],
    },
    {
      kind: 'text',
      text: t(
        'As it would be for you now, with your tools and without what is said until then. `ai prompt` sends the words to whoever may have them.',
      ),
    },
  ];
}

function nameOf({ kind, count }: ContextPiece): string {
  switch (kind) {
    case 'tools':
      return t('{tools, plural, one {# tool} other {# tools}}', { tools: count });
    case 'system':
      return t('Instructions');
    case 'messages':
      return t('{messages, plural, one {# message} other {# messages}}', { messages: count });
    case 'question':
      return t('The question');
  }
}

function badgeOf({ cache }: ContextPiece) {
  switch (cache) {
    case 'read':
      return { badge: t('from the cache'), tone: 'good' } as const;
    case 'written':
      return { badge: t('into the cache'), tone: 'busy' } as const;
    case 'fresh':
      return { badge: t('new'), tone: 'plain' } as const;
  }
}

function breakpointOf({ breakpoint }: ContextPiece): string | null {
  if (breakpoint === undefined) return null;
  return breakpoint === '1h' ? t('an hour') : t('five minutes');
}
