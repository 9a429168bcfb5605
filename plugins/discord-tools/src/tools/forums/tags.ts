import { UserError } from '@cinnabar/sdk';
import type { Caller, Parts } from '../../parts.js';
import type { Forum } from '../../reaching/channels.js';
import { may } from '../../reaching/may.js';
import { placeOf } from '../../reaching/places.js';
import { nameText } from '../../reading/names.js';

/** Discord's limit for the tags of one post. */
export const MOST_TAGS = 5;

export interface TagView {
  readonly id: string;
  readonly name: string;
  /** Only for who manages threads to put on a post. */
  readonly moderated: boolean;
  readonly emoji: string | null;
}

export function viewTags({ availableTags }: Pick<Forum, 'availableTags'>): readonly TagView[] {
  return availableTags.map(({ id, name, moderated, emoji }) => ({
    id,
    name,
    moderated,
    emoji: emoji?.name ?? emoji?.id ?? null,
  }));
}

export function tagsText(tags: readonly TagView[]): string {
  if (tags.length === 0) return 'no tags';
  return tags
    .map(
      ({ id, name, moderated, emoji }) =>
        `${emoji === null ? '' : `${emoji} `}${nameText(name)} (tag ${id}${moderated ? ', for moderators' : ''})`,
    )
    .join('\n');
}

/** Ids of the tags that were named. @throws UserError that lists what there is */
export async function tagIds(parts: Parts, caller: Caller, forum: Forum, names: readonly string[]): Promise<string[]> {
  const wanted = names.map((name) => {
    const tag = forum.availableTags.find(
      (one) => one.id === name || one.name.toLowerCase() === name.trim().toLowerCase(),
    );
    if (tag !== undefined) return tag;
    const known = forum.availableTags.map((one) => nameText(one.name)).join(', ');
    throw new UserError(
      `There is no tag ${nameText(name)} here. ${known === '' ? 'This forum has none.' : `There are: ${known}.`}`,
    );
  });
  if (wanted.some(({ moderated }) => moderated) && !(await may(parts, caller, placeOf(forum), ['ManageThreads']))) {
    throw new UserError('One of these tags is only for moderators.');
  }
  return wanted.map(({ id }) => id);
}
