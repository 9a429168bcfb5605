import {
  type Actor,
  CinnabarError,
  type ContentBlock,
  inStep,
  type ModelTool,
  type Outcome,
  type Provenance,
  type ToolContent,
  type ToolResultContent,
  type ToolStep,
  type Tools,
  type ToolUseContent,
  type Turn,
} from '@cinnabar/sdk';
import { FIND_TOOLS, findTools } from './offered.js';

export interface InvokeParts {
  readonly turn: Turn;
  readonly tools: Tools;
  readonly provenance: Pick<Provenance, 'mayTell'>;
  readonly signal: AbortSignal;
  /** The tools that everyone may use who is answered: no other runs. */
  readonly permitted: readonly ModelTool[];
  /** A call was held; `afterId` is the message it follows, `step` is shared by the calls of one completion. */
  onHeld(call: {
    readonly callId: string;
    readonly use: ToolUseContent;
    readonly afterId: string | undefined;
    readonly step: string;
  }): Promise<void>;
}

/** What has become of a call. */
export interface Invoked {
  readonly use: ToolUseContent;
  readonly result: ToolResultContent;
  /** What a call that ran has to say. */
  readonly done: string | undefined;
  readonly held: boolean;
  readonly outcome: 'done' | 'deferred' | 'denied' | 'expired' | 'failed';
  /** Tools that the model is given from now on. */
  readonly found?: readonly ModelTool[];
}

/** Runs the calls of one completion one after another: what the first changes, the second sees. Those that are held are asked about together. */
export async function invokeAll(
  uses: readonly ToolUseContent[],
  afterId: string | undefined,
  parts: InvokeParts,
): Promise<readonly Invoked[]> {
  const results = await inStep(
    uses.map((use) => async (step) => {
      if (parts.signal.aborted) throw new CinnabarError('CINNABAR_LLM_CANCELLED');
      return invoke(use, afterId, step, parts);
    }),
  );
  const held = results.filter(({ invoked }) => invoked.held);
  for (const { callId, invoked } of held) {
    await parts.onHeld({ callId, use: invoked.use, afterId, step: held[0]?.callId ?? callId });
  }
  return results.map(({ invoked }) => invoked);
}

async function invoke(use: ToolUseContent, afterId: string | undefined, step: ToolStep, parts: InvokeParts) {
  const { turn, tools, provenance, signal } = parts;
  if (use.name === FIND_TOOLS.name) {
    const { tools: found, text } = findTools(use.input, parts.permitted);
    const invoked = { use, result: resultOf(use, text), done: undefined, held: false, outcome: 'done' as const, found };
    return { callId: use.id, invoked };
  }
  if (await isWithheld(use.name, parts)) {
    const result = resultOf(use, `${use.name} is not available for what is being answered now.`, true);
    return { callId: use.id, invoked: { use, result, done: undefined, held: false, outcome: 'denied' as const } };
  }
  const outcome = await tools.invoke({
    name: use.name,
    arguments: use.input,
    actor: turn.actor,
    signal,
    origin: 'chat',
    step,
    alongside: othersOf(turn),
    ...(afterId === undefined ? {} : { messageId: afterId }),
  });
  const held = outcome.status === 'deferred';
  // Word for word it stands in the channel only where everybody there may read it; what to say of it is the model's to decide.
  const isForAll = outcome.status === 'done' && provenance.mayTell(outcome.sources, turn.actor);
  const done = isForAll ? outcome.text : undefined;
  return { callId: outcome.callId, invoked: { use, result: told(use, outcome), done, held, outcome: outcome.status } };
}

/** Those who are answered together with who asked last. */
function othersOf({ actor, earlier }: Turn): readonly Actor[] {
  const others = new Map(earlier.map((one) => [one.actor.userId, one.actor]));
  others.delete(actor.userId);
  return [...others.values()];
}

/** Whether the turn withholds a tool that the host would run, since another member is answered too. What the host itself refuses, it refuses with its reason. */
async function isWithheld(wanted: string, { turn, tools, permitted }: InvokeParts): Promise<boolean> {
  if (permitted.some(({ name }) => name === wanted)) return false;
  return (await tools.offered(turn.actor)).some(({ name }) => name === wanted);
}

function told(use: ToolUseContent, outcome: Outcome): ToolResultContent {
  switch (outcome.status) {
    case 'deferred':
      return resultOf(use, outcome.note);
    case 'done':
      return resultOf(use, seen(outcome.content) ?? outcome.text);
    case 'failed':
      return resultOf(use, outcome.error.message, true);
    default:
      return resultOf(use, outcome.reason, true);
  }
}

/** Text and images of a result that has more than text. */
function seen(content: readonly ToolContent[] | undefined): readonly ContentBlock[] | undefined {
  if (content?.some(({ type }) => type === 'image') !== true) return undefined;
  return content.flatMap((block): ContentBlock[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }];
    if (block.type !== 'image') return [];
    return [{ type: 'image', source: { type: 'base64', data: block.data, mediaType: block.mimeType } }];
  });
}

function resultOf(use: ToolUseContent, content: ToolResultContent['content'], isError = false): ToolResultContent {
  return { type: 'tool_result', toolUseId: use.id, content, ...(isError ? { isError } : {}) };
}
