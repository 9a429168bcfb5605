import { budgetRefusal, createKeyedMutex, isUnknown, keepTyping, sentenceOf, t, UserError } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import { isLetInto, noAnswer, PLUGIN, type PostingProblem, postingProblem } from '../agents/permissions.js';
import { grantConversation, type Target, targetOf } from '../agents/roster.js';
import type { RelayCore } from '../context.js';
import {
  type Batch,
  type Delivery,
  type EventKind,
  needsReply,
  type RelayEvent,
  SWITCHED_OFF,
} from '../events/event.js';
import { currentEvent } from '../events/message-event.js';
import type { Agents } from '../letta/agents.js';
import type { Answered } from '../letta/runs/prompt-context.js';
import { renderPrompt } from '../prompts/render.js';
import { type GuildRules, rulesIn } from '../settings.js';
import { postAt } from './notices.js';

/**
 * Delivers a batch to its agent. Never throws: every failure is a `Delivery`.
 * @param key the same for every attempt of a batch; the server gets it as well, so that the agent does not answer twice
 */
export type Deliver = (batch: Batch, key: string, signal: AbortSignal) => Promise<Delivery>;

const NOTHING_TO_DO: Delivery = { status: 'done', posted: false, tokens: 0, steps: 0 };

/** @param connected resolves when the bot is connected; before, an agent could not post */
export function createDeliver(core: RelayCore, connected: Promise<unknown>): Deliver {
  const directMutex = createKeyedMutex();
  const deliver: Deliver = async (batch, key, signal) => {
    await connected;
    // While the event was queued, the agent may have been switched off or removed.
    const objection = await core.permissions.objectionTo(batch[0]);
    if (objection !== undefined) return refuse(batch, objection);
    const target = await targetOf(batch[0], core);
    if (target === undefined) return NOTHING_TO_DO;
    if (!(await isGranted(target, batch[0], core.client)))
      return refuse(batch, t('`{agent}` has not been let into this channel', { agent: target.name }));
    const problem = await replyProblem(target, batch, core);
    if (problem !== undefined) return refuse(batch, problem);
    const current = await Promise.all(batch.map((event) => currentEvent(event, core.client, core.log)));
    const [first, ...others] = current.filter((event) => event !== undefined);
    if (first === undefined) return NOTHING_TO_DO;
    const run = () => runAgent(target, [first, ...others], key, signal, core);
    // The shared agent of direct messages has a grant for one conversation only, so its deliveries run one after another.
    return first.guildId === null ? directMutex.run(target.identity, run) : run();
  };
  const attempt: Deliver = async (batch, key, signal) => {
    try {
      return await deliver(batch, key, signal);
    } catch (error) {
      const sentence = sentenceOf(error) ?? t('Something went wrong before the agent could be told. It is in the log.');
      return { status: 'failed', retry: false, sentence, error };
    }
  };
  // Its sentences are in the language of the people who read them; prompts are English.
  return (batch, key, signal) => {
    const [{ guildId, userId }] = batch;
    return core.languages.speak({ guildId, userId: userId ?? undefined }, () => attempt(batch, key, signal));
  };
}

/** Ends a batch without a delivery. Only members who wait for a reply get the reason. */
function refuse(batch: Batch, objection: string): Delivery {
  if (!batch.some(needsReply)) return NOTHING_TO_DO;
  return { status: 'failed', retry: false, sentence: noAnswer(objection), error: SWITCHED_OFF };
}

/** Whether the agent has a grant for the event's channel. */
async function isGranted({ channels }: Target, { channelId }: RelayEvent, client: Client): Promise<boolean> {
  const channel = await client.channels.fetch(channelId).catch((error: unknown) => {
    if (isUnknown(error)) return null;
    throw error;
  });
  return channel !== null && isLetInto(channels, channel);
}

/** Why the agent could not post its reply; only checked if a member waits for one. */
async function replyProblem({ name }: Target, batch: Batch, core: RelayCore): Promise<string | undefined> {
  const [{ guildId, channelId, agent: key }] = batch;
  if (guildId === null || !batch.some(needsReply)) return undefined;
  if ((await rulesIn(core.settings, guildId)).whenSilent === 'post') return undefined;
  const problem = await postingProblem(guildId, { key, name }, channelId, core);
  return problem === undefined || problem.isUngranted ? undefined : cannotPost(name, problem);
}

function cannotPost(name: string, { text }: PostingProblem): string {
  return t('`{name}` cannot post here at the moment, because {text}', { name, text });
}

/** The outcome of a refused post: with what prevents the agent from posting, if that is known. It is not retried, because another attempt would not help. */
async function postRefused(
  { name }: Target,
  [{ guildId, channelId, agent: key }]: Batch,
  core: RelayCore,
): Promise<Delivery> {
  const problem = guildId === null ? undefined : await postingProblem(guildId, { key, name }, channelId, core);
  return {
    status: 'failed',
    retry: false,
    sentence:
      problem === undefined
        ? t('The agent wanted to answer, but its message could not be posted. Please ask again.')
        : noAnswer(cannotPost(name, problem)),
    error: new Error('discord_send failed, and the agent gave up'),
  };
}

/**
 * Sends the prompt, and waits until the agent's run has ended.
 * @throws UserError when a budget is used up, or without a server
 */
async function runAgent(
  target: Target,
  batch: Batch,
  key: string,
  signal: AbortSignal,
  core: RelayCore,
): Promise<Delivery> {
  const { identities, settings, authors, budget, letta, log } = core;
  const { guildId, channelId } = batch[0];
  await assertBudget(target, batch, core);
  await grantConversation(identities, target, batch[0]);
  const rules = await rulesIn(settings, guildId, batch[0].userId);
  const agents = await letta.agents();
  const text = await promptFor(batch, target, rules, agents);
  const recording = authors.record(target.identity, channelId);
  const stopTyping =
    rules.enable_typing_indicator && batch.some(showsTyping) ? showTyping(channelId, signal, core) : undefined;
  try {
    const place = { guildId, channelId, userId: target.userId ?? null };
    const timeoutMs = rules.agent_timeout * 1000;
    const hasWritten = (since: number) => authors.hasWritten(channelId, batch[0].agent, since);
    const end = await agents.converse({ agentId: target.agentId, text, key, timeoutMs, place, hasWritten }, signal);
    const tools = end.tools.map(({ name }) => name);
    // Posts during an earlier process are not in `recording`, but in the tool calls of the run.
    const posted =
      recording.messageIds().length > 0 || end.tools.some(({ name, ok }) => name === 'discord_send' && ok === true);
    log.info('a batch was delivered to an agent', { key, channelId, agent: target.name, status: end.status, tools });
    if (end.status === 'failed') {
      if (!end.retry) await budget.spend(guildId, 0);
      return { ...end, posted };
    }
    const lastWords = posted ? [] : await postLastWords(target, end, batch, key, rules, core);
    await recordReceipt(target, batch, key, end, [...recording.messageIds(), ...(lastWords ?? [])], core);
    if (lastWords === undefined) return UNPOSTED;
    if (!posted && lastWords.length === 0 && hasTriedToPost(end)) return await postRefused(target, batch, core);
    return { status: 'done', posted: posted || lastWords.length > 0, tokens: end.tokens, steps: end.steps };
  } finally {
    recording.end();
    await stopTyping?.();
  }
}

async function assertBudget({ userId }: Target, batch: Batch, { budget, accounts }: RelayCore): Promise<void> {
  const { guildId, channelId } = batch[0];
  const refusal = await budget.refusal(guildId);
  if (refusal !== undefined) throw new UserError(refusal);
  if (userId === undefined) return;
  const decision = await accounts?.check({ userId, guildId, channelId });
  if (decision?.allowed === false) throw new UserError(budgetRefusal(decision));
}

/** The prompt as the agent gets it. It names only tools that the agent has at the server and is allowed to use here. */
export async function promptFor(
  batch: Batch,
  { agentId, granted, name }: Target,
  { mcp_guidance_enabled: enabled, whenSilent }: GuildRules,
  agents: Pick<Agents, 'toolsOf'>,
): Promise<string> {
  const attached = enabled ? await agents.toolsOf(agentId) : new Set<string>();
  const tools = new Set([...granted].filter((tool) => attached.has(tool)));
  const postsForIt = whenSilent === 'post' && batch.some(needsReply);
  const prompt = renderPrompt(batch, { tools, enabled, postsForIt });
  return batch[0].guildId === null
    ? prompt
    : `${prompt}\n\n**You Are:** ${name} here (agent ID: ${agentId}). Other agents may answer here under other names.`;
}

function showsTyping({ kind }: RelayEvent): boolean {
  return kind !== 'digest' && kind !== 'reaction' && kind !== 'wake';
}

function showTyping(channelId: string, signal: AbortSignal, { client, clock, log }: RelayCore): () => Promise<void> {
  const find = async () => {
    const channel = await client.channels.fetch(channelId);
    return channel?.isSendable() === true ? channel : undefined;
  };
  return keepTyping(find, { clock, log, signal });
}

/**
 * Posts the last text of an agent that has posted nothing, if the setting says so.
 * @returns the ids of the messages; `undefined` when Discord refuses them
 */
async function postLastWords(
  { identity }: Target,
  { texts }: Answered,
  batch: Batch,
  key: string,
  { whenSilent }: GuildRules,
  { client, identities, authors, log, clock }: RelayCore,
): Promise<readonly string[] | undefined> {
  const words = texts.at(-1) ?? '';
  const event = batch.filter(needsReply).at(-1);
  if (whenSilent !== 'post' || event === undefined || words.trim() === '') return [];
  try {
    const profile = await identities.profile(identity, event.guildId);
    const posted = await postAt(event, words, key, { client, clock, profile });
    await authors.note(event.channelId, event.agent, posted);
    return posted;
  } catch (error) {
    log.warn("an agent's words could not be posted", { channelId: event.channelId, error });
    return undefined;
  }
}

const UNPOSTED: Delivery = {
  status: 'failed',
  retry: false,
  get sentence() {
    return t('The agent has answered, but I could not post it.');
  },
  error: new Error('Discord did not take the words of the agent'),
};

/** Whether the last call of `discord_send` was refused, or failed because the bot was offline: then the agent is not silent by choice. */
function hasTriedToPost({ tools }: Answered): boolean {
  return tools.findLast(({ name }) => name === 'discord_send')?.ok === false;
}

/** Counts a delivery's usage against the budgets, and stores its receipt for `!why` and `!cost`. */
async function recordReceipt(
  target: Target,
  batch: Batch,
  key: string,
  end: Answered,
  messageIds: readonly string[],
  { accounts, budget, clock }: RelayCore,
): Promise<void> {
  const { guildId, channelId, kind } = batch[0];
  await budget.spend(guildId, end.tokens);
  if (target.userId === undefined) return;
  await accounts?.record({
    id: key,
    at: clock.now(),
    mind: PLUGIN,
    actor: { userId: target.userId, guildId, channelId },
    messageIds,
    trigger: batch.length === 1 ? whyOf(kind) : t('{count} messages waited for me', { count: batch.length }),
    model: target.name,
    provider: 'letta',
    // The server reports only the total, and no price.
    usage: {
      inputTokens: end.tokens,
      outputTokens: 0,
      cacheCreationTokens: 0,
      cacheReadTokens: 0,
      cacheCreation1hTokens: 0,
    },
    calls: end.steps,
    cost: null,
    tools: end.tools.map(({ name, ok }) => ({ name, outcome: ok === false ? 'failed' : 'done' })),
    details: [
      t('Agent: {agent}, at the Letta server; ended with {stopReason}', {
        agent: target.name,
        stopReason: end.stopReason,
      }),
    ],
    notes: [t('The Letta server tells only the sum of all tokens: they are counted as input.')],
  });
}

function whyOf(kind: EventKind): string {
  const reasons: Readonly<Record<EventKind, () => string>> = {
    mention: () => t('I was mentioned'),
    reply: () => t('I was replied to'),
    dm: () => t('I was written to'),
    thread: () => t('Somebody wrote in a thread that I had started'),
    message: () => t('Every message of this channel reaches me'),
    reaction: () => t('Somebody reacted to a message of mine'),
    digest: () => t('A digest was due'),
    wake: () => t('A wake-up was planned'),
  };
  return reasons[kind]();
}
