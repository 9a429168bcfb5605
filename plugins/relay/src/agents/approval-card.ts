import {
  type Actor,
  type Clock,
  type Identities,
  linkSignals,
  type SettingsCatalog,
  type SettledOutcome,
  type ToolDefinition,
  type Tools,
  unlessAborted,
  z,
} from '@cinnabar/sdk';
import type { ApprovalDecision, ApprovalRequest, AskApproval } from '../letta/runs/prompt-context.js';
import { grantOf, guildIdentity, PLUGIN } from './grants.js';
import type { Rosters } from './roster.js';

interface AskParts {
  readonly tools: Tools;
  readonly rosters: Rosters;
  readonly identities: Identities;
  readonly catalog: SettingsCatalog;
  readonly clock: Clock;
}

const read = z.record(z.string(), z.unknown());

/**
 * Asks the member whose message the agent works on whether it may use a tool of its own, by a card where that message is; where nobody has
 * caused it, whoever let the agent in. Asked for once for each call, also after a restart.
 */
export function createAsking(parts: AskParts): AskApproval {
  return async (request, signal) => {
    const actor = await actorOf(request, parts);
    if (actor === undefined) return { approve: false, reason: 'There is nobody who could approve it.' };
    const patience = await patienceFor(actor, parts);
    const late = new AbortController();
    const either = linkSignals(signal, late.signal);
    const stopTimer = parts.clock.after(patience, () => late.abort());
    const asking = parts.tools.invoke({
      name: APPROVE,
      arguments: { agent: nameOf(request, parts.rosters), tool: request.tool, arguments: argumentsOf(request.input) },
      actor,
      origin: PLUGIN,
      key: `${PLUGIN}:${request.key}:${request.callId}`,
      signal: either.signal,
    });
    const decided = asking
      .then((outcome) => (outcome.status === 'deferred' ? outcome.settled : outcome))
      .finally(either.release);
    // However long it takes to post the card, or to take it away: the agent, and whatever else waits for it, does not wait for that.
    const end = await unlessAborted(decided, late.signal).finally(stopTimer);
    return end.inTime ? decisionOf(end.value) : { approve: false, reason: 'Nobody decided in time.' };
  };
}

const SLACK_MS = 2_000;
const USUAL_SECONDS = 60;

/** How long a person has to decide, and a little: a card that has run out is only taken away when its member is heard of again. */
async function patienceFor(actor: Actor, { catalog }: AskParts): Promise<number> {
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
  { rosters, identities }: AskParts,
): Promise<Actor | undefined> {
  const { guildId, channelId } = place;
  if (place.userId !== null) return { userId: place.userId, guildId, channelId };
  const key = guildId === null ? undefined : keyOf(guildId, agentId, rosters);
  if (guildId === null || key === undefined) return undefined;
  const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
  return grant === undefined ? undefined : { userId: grant.userId, guildId, channelId };
}

function keyOf(guildId: string, agentId: string, rosters: Rosters): string | undefined {
  return Object.entries(rosters.of(guildId)?.agents ?? {}).find(([, agent]) => agent.agentId === agentId)?.[0];
}

function nameOf({ agentId, place: { guildId } }: ApprovalRequest, rosters: Rosters): string {
  const key = guildId === null ? undefined : keyOf(guildId, agentId, rosters);
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
 * What an agent at the Letta server has to ask for before it does it. Running it means nothing but that somebody said yes: the call itself
 * is the server's. So the card, its time limit and the record of who decided are those of every other tool.
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
    sentence: ({ agent, tool }) => `I'll let the agent ${agent} use its tool ${tool}`,
    said: ['agent', 'tool'],
    action: 'Approve a tool call of an agent',
    labels: { agent: 'Agent', tool: 'Tool', arguments: 'Arguments' },
    success: () => '✓ The agent may use its tool.',
    cancelled: ({ agent, tool }) => `The agent ${agent} may not use its tool ${tool}.`,
  },
  run: () => ({ approved: true }),
};
