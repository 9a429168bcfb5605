import type { Memory, Place, Visibility } from './types.js';

type Told = Pick<Memory, 'visibility' | 'channelId'>;

/**
 * Whether a memory of the place's own mind may be told there. Other personas, guilds and direct messages have other files. What everybody could read
 * when it was said is told elsewhere only as long as they still can.
 */
export function mayTell({ visibility, channelId }: Told, place: Pick<Place, 'channelId' | 'isOpen'>): boolean {
  return channelId === place.channelId || (visibility === 'guild' && place.isOpen?.(channelId) !== false);
}

/** Whether everybody who may be told the other may be told the one. */
export function covers(one: Told, other: Told): boolean {
  return one.visibility === 'guild' || (other.visibility !== 'guild' && one.channelId === other.channelId);
}

export const sameAudience = (one: Told, other: Told): boolean => covers(one, other) && covers(other, one);

/** The widest audience that may be told all of them; `undefined` when nobody may. */
export function commonAudience(all: readonly Told[]): Told | undefined {
  const narrow = all.filter(({ visibility }) => visibility !== 'guild');
  const [first, ...others] = narrow;
  if (first === undefined) return all[0];
  return others.every((other) => other.channelId === first.channelId) ? first : undefined;
}

/** In a guild nothing is of a direct message, and the other way round. */
export function visibilityAt(place: Place, wanted: Visibility | undefined): Visibility {
  if (place.guildId === null) return 'dm';
  return wanted === 'guild' ? 'guild' : 'channel';
}
