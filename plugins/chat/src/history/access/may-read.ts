import type { Access, Actor } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { Ask } from '../ask.js';
import { mayBotRead } from './permissions.js';

/** Why a channel cannot be read on its readers' behalf; `undefined` when it can. */
export type Refusal = 'bot' | 'reader' | undefined;

/** Only what the bot and every reader may read: a model must not tell people what they could not see. */
export async function refusalFor(
  channel: SendableChannels,
  readers: readonly Actor[],
  access: Pick<Access, 'mayEnter'>,
  ask: Ask,
): Promise<Refusal> {
  const at = { guildId: channel.isDMBased() ? null : channel.guildId, channelId: channel.id };
  if (readers.some(({ guildId }) => at.guildId !== guildId)) return 'reader';
  if (!mayBotRead(channel)) return 'bot';
  for (const reader of readers) {
    const mayEnter = () => access.mayEnter(reader, at, ['ReadMessageHistory']);
    // As a rule it costs no request, and then counts as none.
    if (!(await mayEnter().catch(() => ask(mayEnter)))) return 'reader';
  }
  return undefined;
}
