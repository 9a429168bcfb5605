import { type ChannelContext, type ChannelContexts, compareIds } from '@cinnabar/sdk';
import { EMPTY_CACHE_STATE } from '../context/caching/cache-state.js';
import { freshDraft, selfName, setScene } from '../context/draft.js';
import type { HistoryMessage } from '../history/types.js';
import type { ChatParts } from '../plugin-context.js';
import { attributed, commandRemover, mentionNames } from './request.js';

const NOTHING: ChannelContext = { lines: [], instructions: undefined };

/** What the chat reads of a channel, for other minds: with the same rights, names and omissions. */
export function createChannelContexts(parts: ChatParts): ChannelContexts {
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
