import type { Clock } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { ConversationStore } from '../conversation/store.js';
import type { Voice } from '../speaking/voice.js';

/** What a persona says in the course of a run, kept in the conversation. */
export interface Speech {
  say(text: string): Promise<void>;
  /** So far. */
  readonly texts: readonly string[];
  readonly messageIds: readonly string[];
}

export interface SpeechParts {
  readonly voice: Voice;
  readonly conversations: Pick<ConversationStore, 'add'>;
  readonly channelId: string;
  readonly self: string;
  /** Whom it answers. */
  readonly answers: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function createSpeech({ voice, conversations, channelId, self, answers, clock }: SpeechParts): Speech {
  const texts: string[] = [];
  const messageIds: string[] = [];
  const keep = async (text: string, sent: readonly Message[]) => {
    const ids = sent.map(({ id }) => id);
    texts.push(text);
    messageIds.push(...ids);
    const at = sent.at(-1)?.createdTimestamp ?? clock.now();
    const whose = answers === undefined ? {} : { answers };
    const line = { messageIds: ids, userId: null, ...whose, displayName: self, username: '', text, at };
    await conversations.add(channelId, [line]);
  };
  return {
    async say(text) {
      const sent: Message[] = [];
      let said = '';
      try {
        await voice(text, (message) => void sent.push(message));
        said = text;
      } finally {
        // What could be said has been said, also where the rest of it failed.
        if (sent.length > 0) await keep(said || sent.map(({ content }) => content).join('\n'), sent);
      }
    },
    texts,
    messageIds,
  };
}
