import { type CacheControl, compareIds, type LlmRequest, type ParticipantMessage } from '@cinnabar/sdk';
import type { HistoryMessage } from '../history/types.js';
import { isCacheable, type LaidBreakpoint, layBreakpoints, type PrefixEnd } from './caching/breakpoints.js';
import {
  afterRequest,
  type CacheEntry,
  type CacheState,
  causeOfMiss,
  isAlive,
  isConversationHeld,
} from './caching/cache-state.js';
import { describeLayout, describeWindow, mostGrowth } from './caching/cache-strategy.js';
import { countMessages, indexOfMessage } from './reading/transcript.js';
import { continueDraft, freshDraft, looseQuestion, type Scene, setScene } from './scene.js';
import {
  type Frame,
  frameOf,
  type Gaps,
  observeGap,
  type Past,
  type Shape,
  shapeOf,
  stopSequences,
  tokensOf,
} from './shape.js';
import type { BuildContext, BuiltContext, ContextFacts } from './types.js';
import { estimateMessage, estimateText, estimateTools, messagesWithin, shortened, startFor } from './window.js';

/**
 * Turns a piece of a channel's history into a request. The same input always gives the same request, and the next request begins as this
 * one does, so that the provider reads it from its cache, until the window rolls or somebody changes the past.
 */
export const buildContext: BuildContext = async (input) => {
  const scene = setScene(input);
  const frame = frameOf(input);
  const gaps = observeGap(scene);
  const past = await goOn(scene, frame, gaps);
  if (past.kind === 'fits') return assemble(scene, frame, gaps, past.shape, past);
  return assemble(scene, frame, gaps, await startAnew(scene, frame, gaps), past);
};

/** The window as it was, with what has come since. */
async function goOn(scene: Scene, frame: Frame, gaps: Gaps): Promise<Past> {
  const { memory, config } = scene.input;
  const { anchorId, previousTailId } = memory;
  const from = anchorId === undefined ? -1 : indexOfMessage(scene.entries, anchorId);
  if (from < 0) return { kind: 'none' };
  const isNew = ({ id }: HistoryMessage) => previousTailId === undefined || compareIds(id, previousTailId) > 0;
  const draft = await continueDraft(scene, from, isNew);
  if ('tooMany' in draft) return { kind: 'attachments', what: draft.tooMany };
  const shape = shapeOf(scene, frame, gaps, draft);
  const tooMany = countMessages(draft.entries) > config.recencyWindow + mostGrowth(config);
  const tooLarge = frame.tokens + tokensOf(draft.lines) > frame.limits.most;
  if (shape.roll || tooMany || tooLarge) return { kind: 'too long', shape };
  return { kind: isWarm(scene, shape) ? 'fits' : 'cold', shape };
}

/** Whether the window is worth keeping: for this request, or for others of members who may use other tools. */
function isWarm({ input: { memory, now } }: Scene, { held, variant }: Shape): boolean {
  if (held !== undefined && held.id !== 'system') return true;
  return isConversationHeld({ ...memory, cached: memory.cached.filter((entry) => entry.variant !== variant) }, now);
}

/** The newest messages that the limits allow. */
async function startAnew(scene: Scene, frame: Frame, gaps: Gaps): Promise<Shape> {
  const { tokens, limits } = frame;
  const { config } = scene.input;
  const { recencyWindow } = config;
  const from = startFor(scene.entries, recencyWindow, recencyWindow + mostGrowth(config));
  const draft = await freshDraft(scene, from);
  if (tokens + tokensOf(draft.lines) <= limits.most) return shapeOf(scene, frame, gaps, draft);
  const count = messagesWithin(draft.lines, draft.entries, limits.target - tokens);
  const smaller = await freshDraft(scene, startFor(scene.entries, count));
  return shapeOf(scene, frame, gaps, { ...smaller, lines: shortened(smaller.lines, limits.most - tokens) });
}

/** The request, what is to be remembered of it, and what there is to tell about it. */
function assemble(scene: Scene, frame: Frame, gaps: Gaps, shape: Shape, past: Past): BuiltContext {
  const { input } = scene;
  const baseId = past.kind === 'fits' ? nextBase(shape, input.memory) : shape.tailId;
  const { previousTailId, cached } = input.memory;
  const alive = cached.filter((entry) => isAlive(entry, input.now));
  const places = { baseId, heldId: shape.held?.id, tailId: shape.tailId, spareId: shape.spareId };
  const laid = layBreakpoints(shape.layout, shape.ends, places, alive, input.traits.cache);
  const goesOn = input.goesOnFor !== undefined && frame.mode === 'prefill' && endsInOwnWords(shape.draft);
  const loose = looseQuestion(scene, shape.draft, goesOn);
  const anchorId = shape.draft.entries[0]?.messages[0].id;
  const inRequest = { variant: shape.variant, hashes: new Set(shape.ends.map(({ hash }) => hash)) };
  const memory: CacheState = {
    ...gaps,
    anchorId,
    baseId,
    previousTailId: shape.tailId ?? previousTailId,
    lastActivationAt: input.now,
    cached: afterRequest(cached, inRequest, written(scene, shape, laid), input.now),
    before: frame.before,
    names: Object.fromEntries(shape.draft.names),
    images: [...shape.draft.images.keys()],
    textFiles: [...shape.draft.textFiles.keys()],
  };
  const rolled =
    input.memory.anchorId !== undefined && anchorId !== undefined && compareIds(anchorId, input.memory.anchorId) > 0;
  const facts: ContextFacts = {
    messages: countShown(shape.draft),
    hidden: scene.hidden,
    images: shape.draft.images.size,
    estimatedTokens:
      frame.tokens + tokensOf(shape.draft.lines) + loose.reduce((sum, line) => sum + estimateMessage(line), 0),
    ...beforeMessages(input),
    rolled,
    breakpoints: laid.map(({ at, ttl, because }) => ({ at, ttl, because })),
    plan: describeLayout(shape.layout, gaps),
    windowRule: describeWindow(input.config),
    expectedReadTokens: shape.held?.tokens ?? 0,
    expectedMiss: expectedMiss(scene, frame, shape, past),
  };
  return { request: requestOf(scene, frame, shape, laid, loose, goesOn), memory, facts };
}

/** The messages of Discord whose words are in the request: an entry may say nothing, and a line may have been all that there was room for. */
function countShown({ entries, lines }: Shape['draft']): number {
  const shown = new Set(lines.map(({ message }) => message.messageId));
  return countMessages(entries.filter(({ lastId }) => shown.has(lastId)));
}

/** Whether the model can go on with the last of them as with words of its own. */
function endsInOwnWords({ lines }: Shape['draft']): boolean {
  const last = lines.at(-1);
  return last?.own === true && last.message.content.every(({ type }) => type === 'text');
}

function beforeMessages({ system, tools, config }: Scene['input']) {
  const declared = config.toolsEnabled ? tools : [];
  return { tools: declared.length, toolTokens: estimateTools(declared), systemTokens: estimateText(system) };
}

/** Of an expired tail, the rest behind the base is written anew at each activation: when that has become much, the base moves up. */
function nextBase({ layout, ends, held, tailId }: Shape, { baseId }: CacheState): string | undefined {
  const base = ends.find(({ id }) => id === baseId);
  const tail = ends.find(({ id }) => id === tailId);
  if (layout.base === layout.tail || base === undefined || tail === undefined || held?.id !== baseId) return baseId;
  return tail.tokens - base.tokens > WORTH_MOVING * base.tokens ? tailId : baseId;
}
const WORTH_MOVING = 0.25;

/** The prefixes that the provider holds because of this request. */
function written({ input }: Scene, { ends, tailId }: Shape, laid: readonly LaidBreakpoint[]) {
  const entry = ({ id, hash, tokens }: PrefixEnd, ttl: CacheEntry['ttl']) => ({ upToId: id, hash, tokens, ttl });
  const rules = input.traits.cache;
  if (rules.kind !== 'automatic') return laid.map(({ end, ttl }) => entry(end, ttl));
  return ends.filter((end) => end.id === tailId && isCacheable(end, rules)).map((end) => entry(end, '5m'));
}

function expectedMiss({ input }: Scene, frame: Frame, shape: Shape, past: Past): string | undefined {
  const { memory, now, window } = input;
  const { ends } = 'shape' in past ? past.shape : shape;
  if (past.kind === 'attachments') return `the oldest ${past.what} made room for new ones`;
  const rolled = past.kind === 'too long';
  return causeOfMiss({
    memory,
    before: frame.before,
    variant: shape.variant,
    ends,
    window: window.messages,
    now,
    rolled,
  });
}

function requestOf(
  { input, selfName }: Scene,
  { mode }: Frame,
  { draft }: Shape,
  laid: readonly LaidBreakpoint[],
  loose: readonly ParticipantMessage[],
  goesOn: boolean,
): LlmRequest {
  const { config, system, tools } = input;
  const marks = new Map(laid.map(({ at, ttl }): [string, CacheControl] => [at, { type: 'ephemeral', ttl }]));
  const systemMark = marks.get('system');
  const { continuationModel: model, temperature, topP } = config;
  return {
    self: selfName,
    system,
    messages: [
      ...draft.lines.map(({ message }) => {
        const cacheControl = message.messageId === undefined ? undefined : marks.get(message.messageId);
        return cacheControl === undefined ? message : { ...message, cacheControl };
      }),
      ...loose,
      // Where the model speaks next.
      ...(goesOn ? [] : [{ participant: selfName, content: [{ type: 'text' as const, text: '' }] }]),
    ],
    tools: config.toolsEnabled ? tools : [],
    stopSequences: stopSequences(draft.lines, selfName, mode, config.stopSequences),
    maxTokens: config.maxTokens,
    mode,
    ...(goesOn ? { goesOn } : {}),
    ...(systemMark === undefined ? {} : { cache: { system: systemMark } }),
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
  };
}
