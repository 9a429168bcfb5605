import {
  type Access,
  type Actor,
  compareIds,
  idBefore,
  type Logger,
  maxEntries,
  newerId,
  OLDEST_ID,
  type Provenance,
  type ToolSource,
  unlessUnreachable,
} from '@cinnabar/sdk';
import { type Client, DiscordAPIError, Events, GatewayIntentBits } from 'discord.js';
import { LRUCache } from 'lru-cache';
import { isOpenTo } from './visibility.js';

export interface ProvenanceService extends Provenance {
  readonly messages: ExistingMessages;
}

interface Parts {
  readonly client: Client;
  readonly access: Pick<Access, 'mayEnter'>;
  readonly log: Logger;
}

/** Decides who may be shown what came from where, by what is true now. */
export function createProvenance({ client, access, log }: Parts): ProvenanceService {
  const messages = createExistingMessages(client, log);

  const mayRead = (actor: Actor, source: ToolSource) =>
    access.mayEnter(actor, source, source.messageIds === undefined ? [] : ['ReadMessageHistory']);

  const stands = async ({ channelId, messageIds = [] }: ToolSource) =>
    messageIds.length === 0 || (channelId !== undefined && (await messages.stand(channelId, messageIds)));

  const all = async (sources: readonly ToolSource[], holds: (source: ToolSource) => Promise<boolean>) => {
    try {
      for (const source of sources) if (!(await holds(source))) return false;
      return true;
    } catch (error) {
      log.warn('it could not be found out who may be shown a result, so it is not shown', { error });
      return false;
    }
  };

  return {
    messages,
    async mayShow(sources, to) {
      if (sources === undefined) return false;
      const mayAll = (source: ToolSource) =>
        Promise.all(to.map((actor) => mayRead(actor, source))).then((may) => may.every(Boolean));
      return all(sources, async (source) => (await mayAll(source)) && stands(source));
    },
    async mayHave(sources, userId) {
      if (sources === undefined) return false;
      // As though each place were where they ask: what is theirs in a conversation is theirs.
      return all(sources, async (source) => {
        const { guildId, channelId = '' } = source;
        return (await mayRead({ userId, guildId, channelId }, source)) && stands(source);
      });
    },
    mayTell: (sources, at) => sources?.every((source) => isOpenTo(client, source, at)) === true,
  };
}

const MOST_REMEMBERED = 100_000;
const PAGE = 100;
/** What is scattered over more of a channel than this is not looked for, and counts as gone. */
const MOST_PAGES = 5;

/** Whether messages are still there that something was made from. */
interface ExistingMessages {
  /** Notes messages that have just been read. */
  seen(channelId: string, messageIds: readonly string[]): void;
  /** Asks Discord about those of which the gateway has not told since they were last seen. */
  stand(channelId: string, messageIds: readonly string[]): Promise<boolean>;
}

/** Remembers which messages are there, kept true by the gateway's events; a session that is lost makes it ask again. */
function createExistingMessages(client: Client, log: Logger): ExistingMessages {
  const known = new LRUCache<string, 'there' | 'gone'>(maxEntries(MOST_REMEMBERED));

  const gone = (messageIds: readonly string[]) => {
    for (const id of messageIds) known.set(id, 'gone');
  };
  client.on(Events.MessageDelete, ({ id }) => gone([id]));
  client.on(Events.MessageBulkDelete, (messages) => gone([...messages.keys()]));
  client.on(Events.ShardReady, () => {
    for (const [id, state] of known.entries()) if (state === 'there') known.delete(id);
  });

  /** Where no event tells of deletions, nothing is known for longer than it takes to ask. */
  const isTold = (channelId: string) => {
    const channel = client.channels.cache.get(channelId);
    const intent = channel?.isDMBased() === true ? GatewayIntentBits.DirectMessages : GatewayIntentBits.GuildMessages;
    return client.options.intents.has(intent);
  };

  /** Looks from the oldest on, page by page: what was read together mostly lies together. */
  const look = async (channelId: string, wanted: readonly string[]): Promise<boolean> => {
    const channel = await unlessUnreachable(client.channels.fetch(channelId));
    if (channel?.isTextBased() !== true) return false;
    let left = [...wanted].sort(compareIds);
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const [first] = left;
      if (first === undefined) return true;
      const after = idBefore(first);
      const page = await unlessUnreachable(channel.messages.fetch({ after, limit: PAGE, cache: false }));
      if (page === undefined) return false;
      const newest = [...page.keys()].reduce(newerId, OLDEST_ID);
      const isWhole = page.size < PAGE;
      const missing = left.filter((id) => !page.has(id) && (isWhole || compareIds(id, newest) <= 0));
      for (const id of page.keys()) known.set(id, 'there');
      if (missing.length > 0) {
        gone(missing);
        return false;
      }
      left = left.filter((id) => !page.has(id));
    }
    return left.length === 0;
  };

  return {
    seen(channelId, messageIds) {
      if (!isTold(channelId)) return;
      for (const id of messageIds) if (known.get(id) !== 'gone') known.set(id, 'there');
    },
    async stand(channelId, messageIds) {
      if (messageIds.some((id) => known.get(id) === 'gone')) return false;
      const doubted = isTold(channelId) ? messageIds.filter((id) => known.get(id) !== 'there') : messageIds;
      if (doubted.length === 0) return true;
      try {
        return await look(channelId, doubted);
      } catch (error) {
        if (!(error instanceof DiscordAPIError)) throw error;
        log.info('it could not be looked up whether messages are still there', { channelId, error });
        return false;
      }
    },
  };
}
