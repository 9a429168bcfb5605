import type { HistoryMessage } from '../history/types.js';
import { assemble } from './assemble.js';
import { mostGrowth } from './caching/layouts.js';
import { isConversationHeld } from './memory.js';
import { countMessages, indexOfMessage, isLater } from './reading/entries.js';
import { messagesWithin, shortened, startFor } from './rolling.js';
import { continueDraft, freshDraft, type Scene, setScene } from './scene.js';
import { type Frame, frameOf, type Gaps, observeGap, type Past, type Shape, shapeOf, tokensOf } from './shape.js';
import type { BuildContext } from './types.js';

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
  const isNew = ({ id }: HistoryMessage) => previousTailId === undefined || isLater(id, previousTailId);
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
