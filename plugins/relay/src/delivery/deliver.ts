import {
  type Accounts,
  budgetRefusal,
  createKeyedMutex,
  type Identities,
  isUnknown,
  keepTyping,
  type Logger,
  sentenceOf,
  UserError,
} from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import { isLetInto } from '../agents/grants.js';
import type { Posts, Watch } from '../agents/message-authors.js';
import { type AgentStanding, type Mute, type MuteParts, muteIn, noAnswer } from '../agents/permissions.js';
import { letIntoDirect, type Target, type TargetParts, targetOf } from '../agents/target.js';
import type { Budget } from '../budget.js';
import { asItIsNow } from '../events/message-event.js';
import type { Agents, LettaServers } from '../letta/agents.js';
import type { Answered } from '../letta/runs/prompt-context.js';
import { renderPrompt } from '../prompts/render.js';
import { type GuildRules, type RelaySettings, rulesIn } from '../settings.js';
import { type Batch, type Delivering, type Delivery, needsReply, type RelayEvent, SWITCHED_OFF } from '../types.js';

import { sayAt } from './post.js';
import { type ReceiptParts, recordTelling } from './receipt.js';

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
    const tell = async () => {
      const told = await tellAgent(target, left, key, signal, parts);
      return told === NOT_ADMITTED ? withReason(told, target, batch, parts) : told;
    };
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
  if (guildId === null || !batch.some(needsReply)) return undefined;
  if ((await rulesIn(parts.settings, guildId)).whenSilent === 'post') return undefined;
  const found = await muteIn(guildId, { key, name }, channelId, parts);
  return found === undefined || found.isUngranted ? undefined : cannotPost(name, found);
}

function cannotPost(name: string, { text }: Mute): string {
  return `\`${name}\` cannot post here at the moment, because ${text}`;
}

/** With what keeps the agent from posting, where that is known: asking again would not help. */
async function withReason<T extends object>(
  told: T,
  { name }: Target,
  [{ guildId, channelId, agent: key }]: Batch,
  parts: DeliverParts,
): Promise<T> {
  const found = guildId === null ? undefined : await muteIn(guildId, { key, name }, channelId, parts);
  return found === undefined ? told : { ...told, sentence: noAnswer(cannotPost(name, found)) };
}

/** Only members who asked are told; other events have no one waiting. */
function mute(batch: Batch, objection: string): Delivery {
  if (!batch.some(needsReply)) return NOTHING;
  return { status: 'failed', retry: false, sentence: noAnswer(objection), error: SWITCHED_OFF };
}

/** Of a channel that it has not been let into, an agent is told nothing, whatever happened there. */
async function hears({ channels }: Target, { channelId }: RelayEvent, client: Client): Promise<boolean> {
  const channel = await client.channels.fetch(channelId).catch((error: unknown) => {
    if (isUnknown(error)) return null;
    throw error;
  });
  return channel !== null && isLetInto(channels, channel);
}

function isSome(events: readonly RelayEvent[]): events is Batch {
  return events.length > 0;
}

interface TellParts extends ReceiptParts {
  readonly letta: Pick<LettaServers, 'agents'>;
  readonly identities: Identities;
  readonly settings: RelaySettings;
  readonly budget: Budget;
  readonly accounts: Accounts | undefined;
  readonly posts: Posts;
  readonly watch: Watch;
  readonly client: Client;
  readonly log: Logger;
}

/**
 * Tells one agent one batch, and hears it out.
 * @throws UserError when a budget is used up, or there is no server
 */
async function tellAgent(
  target: Target,
  batch: Batch,
  key: string,
  signal: AbortSignal,
  parts: TellParts,
): Promise<Delivery> {
  const { identities, settings, watch, client, clock, log } = parts;
  const { guildId, channelId } = batch[0];
  await assertBudget(target, batch, parts);
  await letIntoDirect(identities, target, batch[0]);
  const rules = await rulesIn(settings, guildId, batch[0].userId);
  const agents = await parts.letta.agents();
  const text = await promptFor(batch, target, rules, agents);
  const looking = watch.during(target.identity, channelId);
  const types = rules.enable_typing_indicator && batch.some(isWaitedFor);
  const stopTyping = types ? keepTyping(() => sendableChannel(client, channelId), { clock, log, signal }) : undefined;
  try {
    const place = { guildId, channelId, userId: target.userId ?? null };
    const timeoutMs = rules.agent_timeout * 1000;
    const hasWritten = (since: number) => parts.posts.hasWritten(channelId, batch[0].agent, since);
    const end = await agents.converse({ agentId: target.agentId, text, key, timeoutMs, place, hasWritten }, signal);
    const tools = end.tools.map(({ name }) => name);
    // Before a restart it may have posted, unseen by this process.
    const posted = looking.posted() || end.tools.some(({ name, ok }) => name === 'discord_send' && ok === true);
    log.info('an agent has been told', { key, channelId, agent: target.name, status: end.status, tools });
    if (end.status === 'failed') {
      if (!end.retry) await parts.budget.spend(guildId, 0);
      return { ...end, posted };
    }
    const said = posted ? [] : await sayForIt(target, end, batch, key, rules, parts);
    await recordTelling({ target, batch, key, end, messageIds: [...looking.messageIds(), ...(said ?? [])] }, parts);
    if (said === undefined) return UNPOSTED;
    if (!posted && said.length === 0 && hasTriedToPost(end)) return NOT_ADMITTED;
    return { status: 'done', posted: posted || said.length > 0, tokens: end.tokens, steps: end.steps };
  } finally {
    looking.end();
    await stopTyping?.();
  }
}

async function assertBudget({ userId }: Target, batch: Batch, { budget, accounts }: TellParts): Promise<void> {
  const { guildId, channelId } = batch[0];
  const refusal = await budget.refusal(guildId);
  if (refusal !== undefined) throw new UserError(refusal);
  if (userId === undefined) return;
  const decision = await accounts?.check({ userId, guildId, channelId });
  if (decision?.allowed === false) throw new UserError(budgetRefusal(decision));
}

/**
 * Posts the last words of an agent that has posted nothing, where that is wanted.
 * @returns the ids of the messages; `undefined` when Discord refuses them
 */
async function sayForIt(
  { identity }: Target,
  { texts }: Answered,
  batch: Batch,
  key: string,
  { whenSilent }: GuildRules,
  { client, identities, posts, log, clock }: TellParts,
): Promise<readonly string[] | undefined> {
  const words = texts.at(-1) ?? '';
  const asked = batch.filter(needsReply).at(-1);
  if (whenSilent !== 'post' || asked === undefined || words.trim() === '') return [];
  try {
    const profile = await identities.profile(identity, asked.guildId);
    const said = await sayAt(asked, words, key, { client, clock, profile });
    await posts.note(asked.channelId, asked.agent, said);
    return said;
  } catch (error) {
    log.warn("an agent's words could not be posted", { channelId: asked.channelId, error });
    return undefined;
  }
}

const UNPOSTED: Delivery = {
  status: 'failed',
  retry: false,
  sentence: 'The agent has answered, but I could not post it.',
  error: new Error('Discord did not take the words of the agent'),
};

/** Whether the last thing that it wanted to post was refused, or failed because the bot was away: the agent did not choose to be silent. */
function hasTriedToPost({ tools }: Answered): boolean {
  return tools.findLast(({ name }) => name === 'discord_send')?.ok === false;
}

/** The agent tried to post, and gave up. */
const NOT_ADMITTED: Delivery = {
  status: 'failed',
  retry: false,
  sentence: 'The agent wanted to answer, but its message could not be posted. Please ask again.',
  error: new Error('discord_send failed, and the agent gave up'),
};

/** Nobody waits for an answer to a digest, or to a reaction. */
function isWaitedFor({ kind }: Batch[number]): boolean {
  return kind !== 'digest' && kind !== 'reaction' && kind !== 'wake';
}

/** The prompt as the agent gets it. A tool is only named when the agent has it at the server, and here the right to use it. */
export async function promptFor(
  batch: Batch,
  { agentId, granted, name }: Target,
  { mcp_guidance_enabled: enabled, whenSilent }: GuildRules,
  agents: Pick<Agents, 'toolsOf'>,
): Promise<string> {
  const attached = enabled ? await agents.toolsOf(agentId) : new Set<string>();
  const tools = new Set([...granted].filter((name) => attached.has(name)));
  const prompt = renderPrompt(batch, { tools, enabled, postsForIt: whenSilent === 'post' && batch.some(needsReply) });
  return batch[0].guildId === null
    ? prompt
    : `${prompt}\n\n**You Are:** ${name} here (agent ID: ${agentId}). Other agents may answer here under other names.`;
}

async function sendableChannel(client: Client, channelId: string): Promise<SendableChannels | undefined> {
  const channel = await client.channels.fetch(channelId);
  return channel?.isSendable() === true ? channel : undefined;
}
