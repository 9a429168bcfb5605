import {
  type CacheControl,
  compareIds,
  type LlmRequest,
  type ModelTraits,
  type ParticipantMessage,
  t,
  textMessage,
} from '@cinnabar/sdk';
import type { BotConfig } from '../config/keys.js';
import type { HistoryMessage } from '../history/types.js';
import {
  afterRequest,
  type Before,
  type CacheEntry,
  type CacheState,
  causeOfMiss,
  hashBefore,
  heldPrefix,
  isAlive,
  isCacheable,
  isConversationHeld,
  type LaidBreakpoint,
  lastGaps,
  layBreakpoints,
  type PrefixEnd,
  prefixEnds,
} from './caching/cache-state.js';
import { describeLayout, describeWindow, type Layout, mostGrowth, planWindow } from './caching/cache-strategy.js';
import { continueDraft, type Draft, freshDraft, looseQuestion, type Scene, setScene } from './draft.js';
import { countMessages, indexOfMessage, type Line } from './transcript.js';
import type { BuiltContext, ContextFacts, ContextInput, ContextPiece } from './types.js';
import {
  estimateMessage,
  estimateText,
  estimateTools,
  messagesWithin,
  shortened,
  startFor,
  type TokenLimits,
  tokenLimits,
} from './window.js';

/**
 * Builds a request from a part of a channel's history. Deterministic: until the window rolls or an earlier message changes, the next request begins like this
 * one, so that the provider reads that part from its cache.
 */
export async function buildContext(input: ContextInput): Promise<BuiltContext> {
  const scene = setScene(input);
  const frame = frameOf(input);
  const gaps = observeGap(scene);
  const past = await continueWindow(scene, frame, gaps);
  if (past.kind === 'fits') return assemble(scene, frame, gaps, past.shape, past);
  return assemble(scene, frame, gaps, await startWindow(scene, frame, gaps), past);
}

/** Continues the previous window with the messages since then, if it is within its limits. */
async function continueWindow(scene: Scene, frame: Frame, gaps: Gaps): Promise<Past> {
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

/** Whether the provider holds a part of the window: for this request, or for those of members who may use other tools. */
function isWarm({ input: { memory, now } }: Scene, { held, variant }: Shape): boolean {
  if (held !== undefined && held.id !== 'system') return true;
  return isConversationHeld({ ...memory, cached: memory.cached.filter((entry) => entry.variant !== variant) }, now);
}

/** Starts a new window with the newest messages within the limits. */
async function startWindow(scene: Scene, frame: Frame, gaps: Gaps): Promise<Shape> {
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

/** The request, the new state of the channel, and the details for the receipt. */
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
  const kept = written(scene, shape, laid);
  const memory: CacheState = {
    ...gaps,
    anchorId,
    baseId,
    previousTailId: shape.tailId ?? previousTailId,
    lastActivationAt: input.now,
    cached: afterRequest(cached, inRequest, kept, input.now),
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
  const pieces = piecesOf(facts, shape, laid, kept.at(-1)?.upToId, loose);
  return { request: requestOf(scene, frame, shape, laid, loose, goesOn), pieces, memory, facts };
}

/** The parts of a request for display. Messages are split at breakpoints, and at the expected end of the cached part. */
function piecesOf(
  { tools, toolTokens, systemTokens }: Pick<ContextFacts, 'tools' | 'toolTokens' | 'systemTokens'>,
  { draft: { lines }, held }: Shape,
  laid: readonly LaidBreakpoint[],
  writtenUpTo: string | undefined,
  loose: readonly ParticipantMessage[],
): readonly ContextPiece[] {
  const ttls = new Map(laid.map(({ at, ttl }) => [at, ttl]));
  // -1: before all messages; -2: nowhere.
  const placeOf = (id: string | undefined) =>
    id === undefined ? -2 : id === 'system' ? -1 : lines.findIndex(({ message }) => message.messageId === id);
  const [readTo, writtenTo] = [placeOf(held?.id), placeOf(writtenUpTo)];
  const cacheAt = (place: number) => (place <= readTo ? 'read' : place <= writtenTo ? 'written' : 'fresh');
  const before = { count: 1, cache: cacheAt(-1) } as const;
  const pieces: ContextPiece[] = [
    ...(tools === 0 ? [] : [{ ...before, kind: 'tools', count: tools, tokens: toolTokens } as const]),
    { ...before, kind: 'system', tokens: systemTokens, breakpoint: ttls.get('system') },
  ];
  for (const [place, { message, tokens }] of lines.entries()) {
    const last = pieces.at(-1);
    const breakpoint = message.messageId === undefined ? undefined : ttls.get(message.messageId);
    const cache = cacheAt(place);
    if (last?.kind === 'messages' && last.breakpoint === undefined && last.cache === cache)
      pieces[pieces.length - 1] = { ...last, count: last.count + 1, tokens: last.tokens + tokens, breakpoint };
    else pieces.push({ kind: 'messages', count: 1, tokens, cache, breakpoint });
  }
  const asked = loose.reduce((sum, line) => sum + estimateMessage(line), 0);
  return loose.length === 0
    ? pieces
    : [...pieces, { kind: 'question', count: loose.length, tokens: asked, cache: 'fresh' }];
}

/** Counts the Discord messages whose text is in the request. Entries may be empty, and of the first entry one line may fit. */
function countShown({ entries, lines }: Shape['draft']): number {
  const shown = new Set(lines.map(({ message }) => message.messageId));
  return countMessages(entries.filter(({ lastId }) => shown.has(lastId)));
}

/** Whether the last message is the model's own text, which the model can continue. */
function endsInOwnWords({ lines }: Shape['draft']): boolean {
  const last = lines.at(-1);
  return last?.own === true && last.message.content.every(({ type }) => type === 'text');
}

function beforeMessages({ system, tools, config }: Scene['input']) {
  const declared = config.toolsEnabled ? tools : [];
  return { tools: declared.length, toolTokens: estimateTools(declared), systemTokens: estimateText(system) };
}

/** Moves the base to the newest message when the part behind it has become large: after a tail has expired, that part is written again at each activation. */
function nextBase({ layout, ends, held, tailId }: Shape, { baseId }: CacheState): string | undefined {
  const base = ends.find(({ id }) => id === baseId);
  const tail = ends.find(({ id }) => id === tailId);
  if (layout.base === layout.tail || base === undefined || tail === undefined || held?.id !== baseId) return baseId;
  return tail.tokens - base.tokens > WORTH_MOVING * base.tokens ? tailId : baseId;
}
const WORTH_MOVING = 0.25;

/** The prefixes that the provider holds after this request. */
function written({ input }: Scene, { ends, tailId }: Shape, laid: readonly LaidBreakpoint[]) {
  const entry = ({ id, hash, tokens }: PrefixEnd, ttl: CacheEntry['ttl']) => ({ upToId: id, hash, tokens, ttl });
  const rules = input.traits.cache;
  if (rules.kind !== 'automatic') return laid.map(({ end, ttl }) => entry(end, ttl));
  return ends.filter((end) => end.id === tailId && isCacheable(end, rules)).map((end) => entry(end, '5m'));
}

function expectedMiss({ input }: Scene, frame: Frame, shape: Shape, past: Past): string | undefined {
  const { memory, now, window } = input;
  const { ends } = 'shape' in past ? past.shape : shape;
  if (past.kind === 'attachments')
    return past.what === 'images'
      ? t('the oldest images made room for new ones')
      : t('the oldest text files made room for new ones');
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
      // The model's turn to write.
      ...(goesOn ? [] : [textMessage(selfName, '')]),
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

/** The parts of the request around the messages. */
interface Frame {
  readonly mode: 'chat' | 'prefill';
  readonly before: Before;
  /** Tokens of tools and system prompt. */
  readonly tokens: number;
  readonly limits: TokenLimits;
}

type Gaps = Pick<CacheState, 'gapsMs' | 'gapsMessages'>;

/** A draft, and which part of it the provider holds. */
interface Shape {
  readonly draft: Draft;
  readonly layout: Layout;
  /** Whether to cut the window back now. */
  readonly roll: boolean;
  /** The places where a prefix may end: before all messages, where an earlier one ended, and at the newest message. */
  readonly ends: readonly PrefixEnd[];
  /** Hash of the part before the messages. */
  readonly variant: string;
  /** The longest prefix that the provider still holds. */
  readonly held: PrefixEnd | undefined;
  /** The newest message that is not the model's own. */
  readonly tailId: string | undefined;
  /** The message of another author before `tailId`. */
  readonly spareId: string | undefined;
}

/** Whether the window of the previous request can be continued. */
type Past =
  | { readonly kind: 'fits'; readonly shape: Shape }
  /** The provider no longer holds it. */
  | { readonly kind: 'cold'; readonly shape: Shape }
  | { readonly kind: 'too long'; readonly shape: Shape }
  | { readonly kind: 'attachments'; readonly what: string }
  | { readonly kind: 'none' };

function frameOf({ system, tools, config, traits, question }: ContextInput): Frame {
  const offered = config.toolsEnabled ? tools : [];
  const mode = modeInForce(config, traits);
  const { most, target } = tokenLimits(config, traits);
  const asked =
    question === undefined ? 0 : 2 * estimateText(question.speaker.displayName) + estimateText(question.text);
  return {
    mode,
    before: hashBefore(`${traits.provider}/${traits.model}/${mode}`, offered, system),
    tokens: estimateText(system) + estimateTools(offered),
    limits: { most: most - asked, target: Math.min(target, most - asked) },
  };
}

/** The gaps between activations, including the one before this. */
function observeGap({ input: { memory, now }, entries }: Scene): Gaps {
  const { lastActivationAt, previousTailId, gapsMs, gapsMessages } = memory;
  if (lastActivationAt === undefined || previousTailId === undefined) return { gapsMs, gapsMessages };
  const messages = countMessages(entries.filter(({ lastId }) => compareIds(lastId, previousTailId) > 0));
  return {
    gapsMs: lastGaps(gapsMs, Math.max(0, now - lastActivationAt)),
    gapsMessages: lastGaps(gapsMessages, messages),
  };
}

function shapeOf({ input }: Scene, frame: Frame, gaps: Gaps, draft: Draft): Shape {
  const { memory, now } = input;
  const [spareId, tailId] = lastHeard(draft.lines);
  const places = [tailId, spareId, memory.previousTailId, memory.baseId, ...memory.cached.map(({ upToId }) => upToId)];
  const ids = new Set(places.filter((id) => id !== undefined));
  const ends = prefixEnds(frame.before, frame.tokens, draft.lines, ids);
  const held = heldPrefix(ends, memory.cached, now);
  const window = {
    messages: countMessages(draft.entries),
    tokens: tokensOf(draft.lines),
    systemTokens: frame.tokens,
    readable: held?.tokens ?? 0,
    lasting:
      heldPrefix(
        ends,
        memory.cached.filter(({ ttl }) => ttl === '1h'),
        now,
      )?.tokens ?? 0,
  };
  return {
    draft,
    ends,
    held,
    variant: ends[0].hash,
    tailId,
    spareId,
    ...planWindow(input, gaps, window, frame.limits),
  };
}

/** Ids of the last two messages that are not the model's own. */
function lastHeard(lines: readonly Line[]): readonly [string | undefined, string | undefined] {
  const isHeard = ({ own, message }: Line) => !own && message.messageId !== undefined;
  const last = lines.findLastIndex(isHeard);
  const before = lines.slice(0, Math.max(0, last)).findLast(isHeard);
  return [before?.message.messageId, lines[last]?.message.messageId];
}

function tokensOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * The stop sequences of a request. In prefill mode the model continues a script, so every participant's name with a colon is one: the model must not write for
 * others.
 */
function stopSequences(
  lines: readonly Line[],
  self: string,
  mode: 'chat' | 'prefill',
  configured: readonly string[],
): readonly string[] {
  const names =
    mode === 'prefill'
      ? [...lines.map(({ message }) => message.participant).filter((name) => name !== self), self]
      : [];
  return [...new Set([...names.map((name) => `${name}:`), ...configured])];
}

/** The mode of requests: `prefill` only if the model supports it. */
export function modeInForce(
  { mode }: Pick<BotConfig, 'mode'>,
  { modes }: Pick<ModelTraits, 'modes'>,
): BotConfig['mode'] {
  return mode === 'prefill' && modes.includes('prefill') ? 'prefill' : 'chat';
}
