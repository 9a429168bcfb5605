import type { Access, Actor } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { Ask } from '../ask.js';
import { mayBotRead } from './permissions.js';

/** Why a channel cannot be read on somebody's behalf; `undefined` when it can. */
export type Refusal = 'bot' | 'reader' | undefined;

/** Only what both the bot and the one who asks may read: a model must not tell people what they could not see. */
export async function refusalFor(
  channel: SendableChannels,
  reader: Actor,
  access: Pick<Access, 'mayEnter'>,
  ask: Ask,
): Promise<Refusal> {
  const at = { guildId: channel.isDMBased() ? null : channel.guildId, channelId: channel.id };
  if (at.guildId !== reader.guildId) return 'reader';
  if (!mayBotRead(channel)) return 'bot';
  const mayEnter = () => access.mayEnter(reader, at, ['ReadMessageHistory']);
  // As a rule it costs no request, and then counts as none.
  return (await mayEnter().catch(() => ask(mayEnter))) ? undefined : 'reader';
}
