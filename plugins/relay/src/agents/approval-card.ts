import { type Actor, linkSignals, type SettledOutcome, type ToolDefinition, t, withinLimit, z } from '@cinnabar/sdk';
import type { RelayStores } from '../context.js';
import type { ApprovalDecision, ApprovalRequest, AskApproval } from '../letta/runs/prompt-context.js';
import { grantOf, guildIdentity, PLUGIN } from './permissions.js';

const read = z.record(z.string(), z.unknown());

/**
 * Asks for a decision about an approval request by a card in the channel of the prompt: the member whose message the agent works on, or, for an
 * event without a member, the admin who let the agent in. Asked once for each call, also after a restart.
 */
export function createApprovalCards(stores: RelayStores): AskApproval {
  return async (request, signal) => {
    const actor = await actorOf(request, stores);
    if (actor === undefined) return { approve: false, reason: 'There is nobody who could approve it.' };
    const limitMs = await timeLimitFor(actor, stores);
    const late = new AbortController();
    const either = linkSignals(signal, late.signal);
    const asking = stores.tools.invoke({
      name: APPROVE,
      arguments: { agent: nameOf(request, stores), tool: request.tool, arguments: argumentsOf(request.input) },
      actor,
      origin: PLUGIN,
      key: `${PLUGIN}:${request.key}:${request.callId}`,
      signal: either.signal,
    });
    const decided = asking
      .then((outcome) => (outcome.status === 'deferred' ? outcome.settled : outcome))
      .finally(either.release);
    // The agent does not wait for requests to Discord that post the card or delete it.
    const result = await withinLimit(stores.clock, limitMs, decided);
    if (result.inTime) return decisionOf(result.value);
    late.abort();
    return { approve: false, reason: 'Nobody decided in time.' };
  };
}

const SLACK_MS = 2_000;
const USUAL_SECONDS = 60;

/** The time limit of `confirm` for the member, and a little more. */
async function timeLimitFor(actor: Actor, { catalog }: RelayStores): Promise<number> {
  const rules = await catalog.describe('confirm', actor).catch(() => []);
  const limit = rules.find(({ key }) => key === 'timeLimit')?.value;
  return (typeof limit === 'number' ? limit : USUAL_SECONDS) * 1000 + SLACK_MS;
}

function decisionOf(outcome: SettledOutcome): ApprovalDecision {
  if (outcome.status === 'done') return { approve: true };
  return { approve: false, reason: outcome.status === 'failed' ? outcome.error.message : outcome.reason };
}

async function actorOf(
  { agentId, place }: ApprovalRequest,
  { rosters, identities }: RelayStores,
): Promise<Actor | undefined> {
  const { guildId, channelId } = place;
  if (place.userId !== null) return { userId: place.userId, guildId, channelId };
  const key = guildId === null ? undefined : keyOf(guildId, agentId, { rosters });
  if (guildId === null || key === undefined) return undefined;
  const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
  return grant === undefined ? undefined : { userId: grant.userId, guildId, channelId };
}

function keyOf(guildId: string, agentId: string, { rosters }: Pick<RelayStores, 'rosters'>): string | undefined {
  return Object.entries(rosters.of(guildId)?.agents ?? {}).find(([, agent]) => agent.agentId === agentId)?.[0];
}

function nameOf({ agentId, place: { guildId } }: ApprovalRequest, { rosters }: Pick<RelayStores, 'rosters'>): string {
  const key = guildId === null ? undefined : keyOf(guildId, agentId, { rosters });
  return guildId === null || key === undefined ? agentId : (rosters.of(guildId)?.agents[key]?.name ?? agentId);
}

/** What cannot be read is shown as it is: nothing of it is hidden. */
function argumentsOf(input: string): Readonly<Record<string, unknown>> {
  try {
    const parsed = read.safeParse(JSON.parse(input));
    if (parsed.success) return parsed.data;
  } catch {
    // Not JSON.
  }
  return { input };
}

const APPROVE = 'relay_approve';

const input = z.object({
  agent: z.string().describe('The agent that wants to use a tool'),
  tool: z.string().describe('The tool, at the Letta server'),
  arguments: z.record(z.string(), z.unknown()).describe('What it is called with'),
});

/**
 * Stands for a tool call of an agent that the Letta server holds for approval. Running it has no effect but to record the approval: the call itself
 * is the server's. So the card, its time limit and the record of the decision are those of every other tool.
 */
export const approveTool: ToolDefinition<typeof input, { readonly approved: true }> = {
  name: APPROVE,
  description: 'Lets an agent of the relay use a tool of its own that needs an approval',
  input,
  risk: 'destructive',
  policy: 'confirm',
  internal: true,
  // To approve the same call twice is to approve it.
  idempotent: true,
  present: {
    sentence: ({ agent, tool }) => t("I'll let the agent {agent} use its tool {tool}", { agent, tool }),
    said: ['agent', 'tool'],
    action: 'Approve a tool call of an agent',
    labels: { agent: 'Agent', tool: 'Tool', arguments: 'Arguments' },
    success: () => t('✓ The agent may use its tool.'),
    cancelled: ({ agent, tool }) => t('The agent {agent} may not use its tool {tool}.', { agent, tool }),
  },
  run: () => ({ approved: true }),
};
