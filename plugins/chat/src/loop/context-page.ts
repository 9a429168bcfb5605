import {
  type ChannelContext,
  type ChannelContexts,
  compareIds,
  type Turn,
  t,
  UserError,
  type WebBlock,
  type WebLink,
  type WebQuery,
  type WebRequest,
  type WebValue,
} from '@cinnabar/sdk';
import { EMPTY_CACHE_STATE } from '../context/caching/cache-state.js';
import { freshDraft, selfName, setScene } from '../context/draft.js';
import type { BuiltContext, ContextPiece } from '../context/types.js';
import type { HistoryMessage } from '../history/types.js';
import type { ChatContext, ChatServices } from '../plugin-context.js';
import { attributed, commandRemover, mentionNames, prepare } from './request.js';

/** Registers the page with the sizes of the next request in a channel, and the part that the cache is expected to provide. `ai prompt` shows the text. */
export function registerContextPage({ page, client }: Pick<ChatContext, 'page' | 'client'>, parts: ChatServices): void {
  /** @throws UserError if the person or the bot cannot read the channel */
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
      sending: (message) => message,
    };
  };

  page({
    name: 'context',
    title: 'Context',
    description: 'The next request to a model in a channel, and the part that comes from the cache.',
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
      if (channel === undefined)
        return {
          blocks: [
            search,
            {
              kind: 'text',
              text: t('Choose a channel: what the next answer there would be made from is shown, part by part.'),
            },
          ],
        };
      const turn = await turnIn(request);
      const { llm } = parts;
      if (llm === undefined) throw new UserError(t('No language model is set up.'));
      const { built, traits } = await prepare(turn, { ...parts, llm });
      const places = { query: request.query, messages: { discord: turn.channel.url } };
      return { blocks: [search, ...contextBlocks(built, `${traits.provider}/${traits.model}`, places)] };
    },
  });
}

interface Places {
  /** `cache` restricts the list to the parts that the figure of that name counts. */
  readonly query: WebQuery;
  readonly messages: WebLink;
}

function contextBlocks(
  { facts, pieces, request }: BuiltContext,
  model: string,
  { query, messages }: Places,
): readonly WebBlock[] {
  const tokensIn = (cache: ContextPiece['cache']) =>
    pieces.reduce((sum, piece) => sum + (piece.cache === cache ? piece.tokens : 0), 0);
  const { cache: shown, ...all } = query;
  const parts = (cache?: ContextPiece['cache']) => ({
    page: 'chat/context',
    query: cache === undefined ? all : { ...all, cache },
  });
  return [
    {
      kind: 'figures',
      figures: [
        { name: t('Tokens'), value: { measure: facts.estimatedTokens }, hint: t('estimated'), link: parts() },
        { name: t('Read from the cache'), value: { measure: tokensIn('read') }, link: parts('read') },
        { name: t('Written to the cache'), value: { measure: tokensIn('written') }, link: parts('written') },
        { name: t('Neither'), value: { measure: tokensIn('fresh') }, link: parts('fresh') },
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
      rows: pieces.flatMap((piece, index) =>
        shown !== undefined && shown !== piece.cache
          ? []
          : [
              {
                id: String(index),
                cells: [nameOf(piece, messages), { measure: piece.tokens }, badgeOf(piece), breakpointOf(piece)],
              },
            ],
      ),
      empty: t('No part of it.'),
    },
    {
      kind: 'facts',
      facts: [
        { name: t('Model'), value: `${model} · ${request.mode ?? 'chat'}` },
        { name: t('Messages of Discord'), value: { count: facts.messages, link: messages } },
        { name: t('Not shown to the model'), value: { count: facts.hidden, link: messages } },
        { name: t('Images'), value: { count: facts.images, link: messages } },
        { name: t('Window'), value: facts.windowRule },
        { name: t('Cache'), value: facts.plan },
        ...(facts.expectedMiss === undefined ? [] : [{ name: t('Cache miss'), value: facts.expectedMiss }]),
      ],
    },
    {
      kind: 'text',
      text: t(
        'As it would be for you now, with your tools and without later messages. `ai prompt` sends the text to those who may read it.',
      ),
    },
  ];
}

function nameOf({ kind, count }: ContextPiece, messages: WebLink): WebValue {
  switch (kind) {
    case 'tools':
      return {
        link: { page: 'admin/tools' },
        text: t('{tools, plural, one {# tool} other {# tools}}', { tools: count }),
      };
    case 'system':
      return t('Instructions');
    case 'messages':
      return {
        link: messages,
        text: t('{messages, plural, one {# message} other {# messages}}', { messages: count }),
      };
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

const NOTHING: ChannelContext = { lines: [], instructions: undefined };

/** Provides a channel's conversation to other responders, with the same rights, names and omissions. */
export function createChannelContexts(parts: ChatServices): ChannelContexts {
  const { client, config, history, llm } = parts;
  return {
    async read(actor, { limit, before, signal = parts.signal }) {
      const channel = await client.channels.fetch(actor.channelId);
      if (channel?.isSendable() !== true || llm === undefined || client.user === null) return NOTHING;
      const guild = channel.isDMBased() ? null : channel.guild;
      const { config: effective } = await config.forChannel(channel);
      const { historyRoles, discordBackoffMax: backoffMaxMs } = effective;
      const read = await history.window(channel, { limit, readers: [actor], historyRoles, backoffMaxMs, signal });
      const isBefore = ({ id }: HistoryMessage) => before === undefined || compareIds(id, before) < 0;
      const all = await attributed(read.messages, parts.origins, guild);
      const messages = all.filter(isBefore).slice(-limit);
      const self = { id: client.user.id, name: guild?.members.me?.displayName ?? client.user.displayName };
      const scene = setScene({
        self,
        system: '',
        window: { ...read, messages },
        tools: [],
        records: [],
        images: parts.images,
        textFiles: parts.textFiles,
        config: { ...effective, includeImages: false },
        traits: await llm.traits(effective.continuationModel),
        memory: EMPTY_CACHE_STATE,
        now: parts.clock.now(),
        mentions: await mentionNames({ channel, guild, text: '', actor, earlier: [] }, messages, parts.access),
        withoutCommand: commandRemover(parts.prefixes.get(actor.guildId)),
      });
      const own = selfName(effective.innerName, self.name);
      const { lines } = await freshDraft(scene, 0);
      const byId = new Map(messages.map((message) => [message.id, message]));
      return {
        instructions: effective.instructions,
        lines: lines.flatMap(({ message: { participant, content, messageId } }) => {
          const said = messageId === undefined ? undefined : byId.get(messageId);
          const text = content
            .map((block) => (block.type === 'text' ? block.text : ''))
            .join('')
            .trim();
          if (said === undefined || text === '') return [];
          const source = {
            guildId: actor.guildId,
            channelId: said.channelId,
            messageIds: [said.id],
            userIds: said.author.self ? [] : [said.author.id],
          };
          return [{ speaker: participant, own: participant === own, text, source }];
        }),
      };
    },
  };
}
