import { type Accounts, budgetRefusal, type Identities, type Logger, type Registrar, UserError } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Letta } from '../agents/letta.js';
import type { Target } from '../agents/target.js';
import type { Answered } from '../letta/types.js';
import type { Budget } from '../presence/budget.js';
import type { Posts } from '../presence/posts.js';
import { type GuildRules, type RelaySettings, rulesIn } from '../settings.js';
import type { Batch, Delivery } from '../types.js';
import { isAsked } from './asked.js';
import { letIntoDirect } from './direct-grant.js';
import { promptFor } from './prompt.js';
import { type ReceiptParts, recordTelling } from './receipt.js';
import { sayAt } from './say.js';
import { showTyping } from './typing.js';
import type { Watch } from './watch.js';

export interface TellParts extends ReceiptParts, Pick<Registrar, 'every'> {
  readonly letta: Pick<Letta, 'agents'>;
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
export async function tellAgent(
  target: Target,
  batch: Batch,
  key: string,
  signal: AbortSignal,
  parts: TellParts,
): Promise<Delivery> {
  const { identities, settings, watch, client, log } = parts;
  const { guildId, channelId } = batch[0];
  await assertBudget(target, batch, parts);
  await letIntoDirect(identities, target, batch[0]);
  const rules = await rulesIn(settings, guildId, batch[0].userId);
  const agents = await parts.letta.agents();
  const text = await promptFor(batch, target, rules, agents);
  const looking = watch.during(target.identity, channelId);
  const types = rules.enable_typing_indicator && batch.some(isWaitedFor);
  const stopTyping = types ? await showTyping(client, channelId, parts) : undefined;
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
  const asked = batch.filter(isAsked).at(-1);
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
