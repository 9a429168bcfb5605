import {
  type Ledger,
  type Llm,
  type LlmRequest,
  type ModelTool,
  type Prefixes,
  type Tools,
  type Turn,
  UserError,
} from '@cinnabar/sdk';
import { type CallStore, outcomeOf, recallCalls, rememberCall } from './calls.js';
import { withEitherSignal } from './either-signal.js';
import { peopleIn } from './history/people.js';
import { assertReadable, mayReadHistory } from './history/permissions.js';
import { timelineOf } from './history/timeline.js';
import { byId, type History } from './history/window.js';
import { systemPrompt } from './prompt.js';
import { runRounds } from './rounds.js';
import { NO_MODEL } from './sentences.js';
import type { ChatSettings } from './settings.js';

export interface ChatParts {
  readonly llm: Llm | undefined;
  readonly tools: Tools;
  readonly ledger: Ledger;
  readonly prefixes: Prefixes;
  readonly history: History;
  readonly calls: CallStore;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  settingsFor(guildId: string | null): Promise<ChatSettings>;
}

/** Answers one turn. @throws UserError, or a CinnabarError of the language model, for `ai` to tell */
export async function respond(turn: Turn, parts: ChatParts): Promise<void> {
  const { llm } = parts;
  if (llm === undefined) throw new UserError(NO_MODEL);
  assertReadable(turn);
  const settings = await parts.settingsFor(turn.actor.guildId);
  const tools = settings.maxToolDepth > 0 ? await parts.tools.offered(turn.actor) : [];
  const request = await requestFor(turn, parts, settings, tools.map(asModelTool));
  const newest = request.messages.findLast(({ messageId }) => messageId !== undefined)?.messageId;
  await withEitherSignal([turn.signal, parts.signal], (signal) =>
    runRounds(request, {
      turn,
      llm,
      tools: parts.tools,
      maxToolDepth: settings.maxToolDepth,
      signal,
      onHeld: ({ callId, use, afterId, step }) =>
        rememberCall(parts.calls, turn.channel.id, {
          callId,
          tool: use.name,
          input: use.input,
          userId: turn.actor.userId,
          afterId: afterId ?? newest ?? '0',
          step,
        }),
    }),
  );
}

async function requestFor(
  turn: Turn,
  parts: ChatParts,
  settings: ChatSettings,
  tools: readonly ModelTool[],
): Promise<LlmRequest> {
  const { channel, guild } = turn;
  const bot = { id: channel.client.user.id, name: guild?.members.me?.displayName ?? channel.client.user.displayName };
  const messages = mayReadHistory(turn) ? await parts.history.read(channel, settings.history) : [];
  const people = peopleIn(messages, turn, bot);
  const oldest = messages.length < settings.history ? undefined : messages[0];
  const isPast = ({ afterId }: { readonly afterId: string }) =>
    oldest !== undefined && byId({ id: afterId }, oldest) < 0;
  const held = mayReadHistory(turn) ? await recallCalls(parts.calls, channel.id, isPast) : [];
  const offered = new Set(tools.map(({ name }) => name));
  const calls = await Promise.all(
    held
      .filter(({ tool }) => offered.has(tool))
      .map(async (call) => ({ held: call, outcome: outcomeOf(await parts.ledger.get(call.callId)) })),
  );
  const withoutCommand = commandRemover(parts.prefixes.get(turn.actor.guildId));
  return {
    self: people.self,
    system: systemPrompt(people.self, turn, settings),
    messages: timelineOf({ turn, messages, calls, people, botId: bot.id, withoutCommand }),
    tools,
  };
}

/** `!ai Hello` was said as `Hello`. */
function commandRemover(prefixes: readonly string[]): (content: string) => string {
  return (content) => {
    const prefix = prefixes.find((candidate) => content.startsWith(candidate));
    const command = prefix === undefined ? null : /^\s*ai\s+/i.exec(content.slice(prefix.length));
    return content.slice(command === null ? 0 : (prefix?.length ?? 0) + command[0].length);
  };
}

function asModelTool({
  name,
  description,
  inputSchema,
  examples,
}: ModelTool & { examples: readonly string[] }): ModelTool {
  return { name, description, inputSchema, examples };
}
