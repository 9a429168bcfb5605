import { createKeyedMutex, sentenceOf } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { type MuteParts, muteIn } from '../agents/mute.js';
import { isLetInto } from '../agents/places.js';
import type { AgentStanding } from '../agents/standing.js';
import { type Target, type TargetParts, targetOf } from '../agents/target.js';
import { asItIsNow, isGone } from '../events/as-it-is-now.js';
import { rulesIn } from '../settings.js';
import { type Batch, type Delivering, type Delivery, type RelayEvent, SWITCHED_OFF } from '../types.js';
import { isAsked } from './asked.js';
import { noAnswer } from './cut-off.js';
import { type TellParts, tellAgent } from './tell.js';

export interface DeliverParts extends TellParts, TargetParts {
  /** Resolves once the bot is connected: before that, nobody can post anything. */
  readonly connected: Promise<unknown>;
  readonly standing: Pick<AgentStanding, 'of'>;
  readonly access: MuteParts['access'];
  readonly policies: MuteParts['policies'];
  readonly tools: MuteParts['tools'];
}

const NOTHING: Delivery = { status: 'done', posted: false, tokens: 0, steps: 0 };

/** Tells agents: shows typing meanwhile, knows whether they have posted, and what becomes of their words when they have not. */
export function createDelivering(parts: DeliverParts): Delivering {
  const conversations = createKeyedMutex();
  const deliver: Delivering['deliver'] = async (batch, key, signal) => {
    await parts.connected;
    // Switched off, sent away or not wanted any more while it waited; or never let in where it happened.
    const objection = await parts.standing.of(batch[0]);
    if (objection !== undefined) return mute(batch, objection);
    const target = await targetOf(batch[0], parts);
    if (target === undefined) return NOTHING;
    if (!(await hears(target, batch[0], parts.client)))
      return mute(batch, `\`${target.name}\` has not been let into this channel`);
    const silence = await muteAt(target, batch, parts);
    if (silence !== undefined) return mute(batch, silence);
    const now = await Promise.all(batch.map((event) => asItIsNow(event, parts.client, parts.log)));
    const left = now.filter((event) => event !== undefined);
    if (!isSome(left)) return NOTHING;
    const tell = () => tellAgent(target, left, key, signal, parts);
    // The one that answers everybody's direct messages is let into one conversation at a time.
    return batch[0].guildId === null ? conversations.run(target.identity, tell) : tell();
  };
  return {
    async deliver(batch, key, signal) {
      try {
        return await deliver(batch, key, signal);
      } catch (error) {
        const sentence = sentenceOf(error) ?? 'Something went wrong before the agent could be told. It is in the log.';
        return { status: 'failed', retry: false, sentence, error };
      }
    },
  };
}

/** Why the agent could not post, where a member waits for its answer. */
async function muteAt({ name }: Target, batch: Batch, parts: DeliverParts): Promise<string | undefined> {
  const [{ guildId, channelId, agent: key }] = batch;
  if (guildId === null || !batch.some(isAsked)) return undefined;
  if ((await rulesIn(parts.settings, guildId)).whenSilent === 'post') return undefined;
  const found = await muteIn(guildId, { key, name }, channelId, parts);
  return found === undefined ? undefined : `\`${name}\` cannot post here at the moment, because ${found.text}`;
}

/** Only members who asked are told; other events have no one waiting. */
function mute(batch: Batch, objection: string): Delivery {
  if (!batch.some(isAsked)) return NOTHING;
  return { status: 'failed', retry: false, sentence: noAnswer(objection), error: SWITCHED_OFF };
}

/** Of a channel that it has not been let into, an agent is told nothing, whatever happened there. */
async function hears({ channels }: Target, { channelId }: RelayEvent, client: Client): Promise<boolean> {
  const channel = await client.channels.fetch(channelId).catch((error: unknown) => {
    if (isGone(error)) return null;
    throw error;
  });
  return channel !== null && isLetInto(channels, channel);
}

function isSome(events: readonly RelayEvent[]): events is Batch {
  return events.length > 0;
}
