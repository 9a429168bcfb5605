import type { Access, Actor, Logger, Provenance, ToolSource } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { isOpenTo } from './audience.js';
import { createStandingMessages, type StandingMessages } from './standing-messages.js';

export interface ProvenanceService extends Provenance {
  readonly messages: StandingMessages;
}

interface Parts {
  readonly client: Client;
  readonly access: Pick<Access, 'mayEnter'>;
  readonly log: Logger;
}

/** Decides who may be shown what came from where, by what is true now. */
export function createProvenance({ client, access, log }: Parts): ProvenanceService {
  const messages = createStandingMessages(client, log);

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
