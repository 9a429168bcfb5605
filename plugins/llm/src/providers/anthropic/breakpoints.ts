import type Anthropic from '@anthropic-ai/sdk';
import type { CacheControl, ModelTraits } from '@cinnabar/sdk';

export type Breakpoint = Anthropic.CacheControlEphemeral;

/** The marks of a request in the order in which the provider reads a prompt. */
export interface Marks {
  readonly tools: CacheControl | undefined;
  readonly system: CacheControl | undefined;
  readonly blocks: readonly (CacheControl | undefined)[];
}

export interface Breakpoints {
  readonly tools: Breakpoint | undefined;
  readonly system: Breakpoint | undefined;
  readonly blocks: readonly (Breakpoint | undefined)[];
}

/**
 * The breakpoints that a model takes. Too many: the one behind the tools goes first, since the system prompt's covers it, then the
 * earliest. An hour's entry after one of five minutes, which the API refuses, is kept for five minutes, too.
 */
export function placeBreakpoints({ tools, system, blocks }: Marks, rules: ModelTraits['cache']): Breakpoints {
  const kept = new Set(keptPlaces([tools, system, ...blocks], rules));
  let shortOnly = !rules.ttls.includes('1h');
  const breakpoint = (mark: CacheControl | undefined, place: number): Breakpoint | undefined => {
    if (mark === undefined || !kept.has(place)) return undefined;
    if (mark.ttl !== '1h') shortOnly = true;
    return shortOnly ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: '1h' };
  };
  return {
    tools: breakpoint(tools, 0),
    system: breakpoint(system, 1),
    blocks: blocks.map((mark, index) => breakpoint(mark, index + 2)),
  };
}

function keptPlaces(marks: readonly (CacheControl | undefined)[], rules: ModelTraits['cache']): readonly number[] {
  if (rules.kind !== 'explicit' || rules.breakpoints === 0) return [];
  const places = marks.flatMap((mark, place) => (mark === undefined ? [] : [place]));
  const surplus = places.length - rules.breakpoints;
  if (surplus <= 0) return places;
  const prompt = places.filter((place) => place < 2);
  const dispensable =
    prompt.length === 2 ? [0, ...places.filter((place) => place >= 2)] : places.filter((place) => place >= 2);
  const dropped = new Set([...dispensable, ...prompt].slice(0, surplus));
  return places.filter((place) => !dropped.has(place));
}
