import { type AccessPolicy, TIERS, type Tier } from '@cinnabar/sdk';
import { refuse } from './naming.js';

/**
 * What a command in a group asks for: everything that either asks for.
 * @throws CINNABAR_NAME_INVALID when one is for servers only and the other for direct messages only
 */
export function combinePolicies(outer: AccessPolicy, inner: AccessPolicy, name: string): AccessPolicy {
  const where = combinePlaces(outer.where ?? 'anywhere', inner.where ?? 'anywhere', name);
  const member = union(outer.member, inner.member);
  const bot = union(outer.bot, inner.bot);
  const tier = stricter(outer.tier ?? 'everyone', inner.tier ?? 'everyone');
  const dmTier = stricter(outer.dmTier ?? outer.tier ?? 'everyone', inner.dmTier ?? inner.tier ?? 'everyone');
  return {
    ...(dmTier === tier ? {} : { dmTier }),
    ...(tier === 'everyone' ? {} : { tier }),
    ...(member.length === 0 ? {} : { member }),
    ...(bot.length === 0 ? {} : { bot }),
    ...(where === 'anywhere' ? {} : { where }),
  };
}

type Place = NonNullable<AccessPolicy['where']>;

function combinePlaces(outer: Place, inner: Place, name: string): Place {
  if (outer === 'anywhere') return inner;
  if (inner === 'anywhere' || inner === outer) return outer;
  return refuse('command', name, `it is for ${inner} only, inside a group that is for ${outer} only`);
}

function stricter(one: Tier, other: Tier): Tier {
  return TIERS.indexOf(one) >= TIERS.indexOf(other) ? one : other;
}

function union<T>(one: readonly T[] = [], other: readonly T[] = []): readonly T[] {
  return [...new Set([...one, ...other])];
}
