import { createSequences, type Logger, type Registrar, sentenceOf, UserError } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Letta } from '../agents/letta.js';
import { type Target, type TargetParts, targetOf } from '../agents/target.js';
import { asItIsNow } from '../events/as-it-is-now.js';
import type { Budget } from '../presence/budget.js';
import type { Posts } from '../presence/posts.js';
import { rulesIn } from '../settings.js';
import type { Batch, Delivering, Delivery, RelayEvent } from '../types.js';
import { letIntoDirect } from './direct-grant.js';
import { promptFor } from './prompt.js';
import { sayAt } from './say.js';
import { showTyping } from './typing.js';
import type { Watch } from './watch.js';

export interface DeliverParts extends TargetParts, Pick<Registrar, 'every'> {
  readonly letta: Pick<Letta, 'agents'>;
  /** Resolves once the bot is connected: before that, nobody can post anything. */
  readonly connected: Promise<unknown>;
  readonly budget: Budget;
  readonly posts: Posts;
  readonly watch: Watch;
  readonly client: Client;
  readonly log: Logger;
}

const NOTHING: Delivery = { status: 'done', posted: false, tokens: 0, steps: 0 };

/** Tells agents: shows typing meanwhile, knows whether they have posted, and what becomes of their words when they have not. */
export function createDelivering(parts: DeliverParts): Delivering {
  const conversations = createSequences();
  const deliver: Delivering['deliver'] = async (batch, key, signal) => {
    await parts.connected;
    const target = await targetOf(batch[0], parts);
    // Switched off, sent away or not wanted any more while it waited.
    if (target === undefined) return NOTHING;
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

async function tellAgent(
  target: Target,
  batch: Batch,
  key: string,
  signal: AbortSignal,
  parts: DeliverParts,
): Promise<Delivery> {
  const { identities, settings, watch, budget, posts, client, log } = parts;
  const [first] = batch;
  const { guildId, channelId } = first;
  const refusal = await budget.refusal(guildId);
  if (refusal !== undefined) throw new UserError(refusal);
  await letIntoDirect(identities, target, first);
  const rules = await rulesIn(settings, guildId);
  const agents = await parts.letta.agents();
  const text = await promptFor(batch, target, rules, agents);
  const looking = watch.during(target.identity, channelId);
  const stopTyping =
    rules.enable_typing_indicator && isWaitedFor(batch) ? await showTyping(client, channelId, parts) : undefined;
  try {
    const place = { guildId, channelId, userId: target.userId ?? null };
    const timeoutMs = rules.agent_timeout * 1000;
    const end = await agents.converse({ agentId: target.agentId, text, key, timeoutMs, place }, signal);
    log.info('an agent has been told', {
      key,
      channelId,
      agent: target.name,
      status: end.status,
      tools: end.tools.map(({ name }) => name),
    });
    if (end.status === 'failed') {
      const { retry, retryAfterMs, sentence, error } = end;
      return { status: 'failed', retry, sentence, error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
    await budget.spend(guildId, end.tokens);
    const words = end.texts.at(-1) ?? '';
    const speaks = !looking.posted() && rules.whenSilent === 'post' && words.trim() !== '';
    const said = speaks ? await sayAt(answered(batch), words, key, client) : [];
    await posts.note(channelId, first.agent, said);
    return { status: 'done', posted: looking.posted() || said.length > 0, tokens: end.tokens, steps: end.steps };
  } finally {
    looking.end();
    await stopTyping?.();
  }
}

/** Nobody waits for an answer to a digest, or to a reaction. */
function isWaitedFor(batch: Batch): boolean {
  return batch.some(({ kind }) => kind !== 'digest' && kind !== 'reaction' && kind !== 'wake');
}

/** The message that is replied to: the newest. */
function answered(batch: Batch): RelayEvent {
  return batch.at(-1) ?? batch[0];
}

function isSome(events: readonly RelayEvent[]): events is Batch {
  return events.length > 0;
}
