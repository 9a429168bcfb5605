import { join } from 'node:path';
import type { Place } from '../types.js';

const ID = /^\d{1,20}$/;
const MIND = /^[a-z0-9-]{1,64}$/;
const FILE = /^([a-z0-9-]{1,64})\.jsonl$/;

/** A guild, or a direct message: what lies in different ones never meets. */
export function spaceOf({ guildId, channelId }: Omit<Place, 'mind'>): string {
  const id = guildId ?? channelId;
  // Ids come from Discord, but a path is not the place to rely on it.
  if (!ID.test(id)) throw new TypeError(`"${id}" is not an id`);
  return guildId === null ? `dm-${id}` : id;
}

export const isSpace = (name: string): boolean => /^(?:dm-)?\d{1,20}$/.test(name);

export function fileOf(root: string, space: string, mind: string): string {
  if (!MIND.test(mind)) throw new TypeError(`"${mind}" is not the name of a mind`);
  return join(root, space, `${mind}.jsonl`);
}

/** The mind whose file it is, or `undefined` for a file that is not one of ours. */
export const mindOf = (name: string): string | undefined => FILE.exec(name)?.[1];
