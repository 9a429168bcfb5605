import type { Letta } from '@letta-ai/letta-client';
import type { Message } from '@letta-ai/letta-client/resources/agents/messages';

/** A prompt as the server keeps it. */
export interface Past {
  /** What came after the prompt, oldest first, until the agent was told something else. */
  readonly messages: readonly Message[];
  /** The run that came last. */
  readonly runId: string | undefined;
}

const PAGE = 100;
const MOST_PAGES = 10;

/** Looks for a prompt in the agent's history. `undefined` when it is not there: it never arrived, or not yet. */
export async function pastOf(
  client: Letta,
  agentId: string,
  otid: string,
  signal: AbortSignal,
): Promise<Past | undefined> {
  let after: Message[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const from = cursor === undefined ? {} : { after: cursor };
    const { items } = await client.agents.messages.list(agentId, { limit: PAGE, order: 'desc', ...from }, { signal });
    for (const message of items) {
      if (message.message_type !== 'user_message') after.push(message);
      else if (message.otid === otid) return past(after.reverse(), message.run_id);
      else after = [];
    }
    cursor = items.at(-1)?.id;
    if (items.length < PAGE) return undefined;
  }
  return undefined;
}

function past(messages: readonly Message[], first: string | null | undefined): Past {
  const runs = messages.flatMap(({ run_id }) => (typeof run_id === 'string' ? [run_id] : []));
  return { messages, runId: runs.at(-1) ?? first ?? undefined };
}
