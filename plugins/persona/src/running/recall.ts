import type { Memories, Recall, Recalled } from '../memory/types.js';

/** Of what was said, and of whoever said it. */
const RELEVANT = 6;
const OF_SPEAKER = 4;

/** What comes to mind: what has to do with what was said, and what matters about whoever said it, however little they said. */
export async function recall(
  memories: Pick<Memories, 'retrieve'>,
  about: Omit<Recall, 'limit' | 'about'>,
): Promise<readonly Recalled[]> {
  const { place, askedBy, signal } = about;
  const relevant = await memories.retrieve({ ...about, limit: RELEVANT });
  if (askedBy === undefined) return relevant;
  const known = new Set(relevant.map(({ memory }) => memory.id));
  const theirs = await memories.retrieve({ place, about: [askedBy], limit: OF_SPEAKER, signal });
  return [...relevant, ...theirs.filter(({ memory }) => !known.has(memory.id))];
}
