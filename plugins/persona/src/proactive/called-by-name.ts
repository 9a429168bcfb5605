import { type Disposer, isDotMessage, type Registrar, repliesToOwn, sanitizeName } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import { selfName } from '../running/run-context.js';
import { livesIn, type UnaskedParts } from './unasked-runs.js';

export interface CallsByName {
  /** Whether any guild wants it: only then are messages looked at for it. */
  watch(isWanted: boolean): Promise<void>;
}

/** Answers messages that call the persona by its name, where a guild has chosen that and the persona answers. */
export function answerToName({ on }: Pick<Registrar, 'on'>, parts: UnaskedParts): CallsByName {
  const look = async (message: Message) => {
    const { channel, client, guildId, author, content } = message;
    if (guildId === null || author.bot || message.webhookId !== null || !channel.isSendable()) return;
    if (isDotMessage(content) || message.mentions.users.has(client.user.id)) return;
    // Replies to the bot are for it already.
    if (repliesToOwn(message) || parts.commands.matches(message)) return;
    if (!(await parts.settingsFor(guildId)).answersToName || !(await livesIn(channel, parts))) return;
    const { state } = await parts.store.read({ guildId, channelId: channel.id });
    if (!callsBy(selfName(state.name, channel), content)) return;
    await parts.frontDoor?.take(message, { trigger: 'name', responder: 'persona' });
  };
  let stopWatching: Disposer | undefined;
  return {
    async watch(isWanted) {
      if (isWanted === (stopWatching !== undefined)) return;
      const stop = stopWatching;
      stopWatching = isWanted ? on('messageCreate', look) : undefined;
      await stop?.();
    },
  };
}

/**
 * Whether a text addresses the persona: by the name at its beginning, after a greeting, or behind a comma at its end. A name within a sentence is talked of.
 * @example callsBy('Judy', 'hey Judy, are you there?') // true
 */
export function callsBy(name: string, text: string): boolean {
  const plain = sanitizeName(name).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (plain === '') return false;
  const atBeginning = new RegExp(
    `^\\s*(?:(?:hey|hi|hello|ok|okay|yo|dear)[\\s,]+)?@?${plain}\\s*(?:[,:;!?…—-]|$)`,
    'iu',
  );
  const asking = new RegExp(
    `^\\s*(?:hey|hi|hello)[\\s,]+${plain}\\b|^\\s*${plain}\\s+(?:can|could|would|will|do|did|are|what|who|when|where|why|how|please|tell)\\b`,
    'iu',
  );
  const atEnd = new RegExp(`,\\s*${plain}\\s*[.!?…]*\\s*$`, 'iu');
  return atBeginning.test(text) || asking.test(text) || atEnd.test(text);
}
