import type { ModerationCase } from '@cinnabar/sdk';
import { type GuildSettings, parseThreshold, type Threshold } from './settings.js';

type Rules = Pick<GuildSettings, 'warnActions' | 'warnExpiry'>;

/** Whether the points of a warning count. */
export function counts(
  { act, state, removed, at }: ModerationCase,
  { warnExpiry }: Pick<Rules, 'warnExpiry'>,
  now: number,
): boolean {
  return act === 'warn' && state === 'done' && removed === undefined && (warnExpiry === 0 || at + warnExpiry > now);
}

/** The points of a member's warnings that count. */
export function pointsOf(cases: readonly ModerationCase[], rules: Rules, now: number): number {
  return cases.reduce((sum, one) => sum + (counts(one, rules, now) ? (one.points ?? 0) : 0), 0);
}

/** The highest threshold that the points have reached now and had not before. */
export function crossedThreshold({ warnActions }: Rules, before: number, now: number): Threshold | undefined {
  return warnActions
    .flatMap((text) => parseThreshold(text) ?? [])
    .filter(({ points }) => points > before && points <= now)
    .sort((one, other) => other.points - one.points)[0];
}
