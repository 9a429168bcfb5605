import { type AnyThreadChannel, ChannelType, type ForumChannel, type MediaChannel } from 'discord.js';
import { nameText } from './names.js';

export interface ThreadView {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
  readonly ownerId: string | null;
  readonly private: boolean;
  readonly archived: boolean;
  readonly locked: boolean;
  /** ISO 8601. */
  readonly createdAt: string | null;
  readonly messages: number;
  /** Names of the tags of a forum post. */
  readonly tags: readonly string[];
}

export function viewThread(thread: AnyThreadChannel): ThreadView {
  return {
    id: thread.id,
    name: thread.name,
    parentId: thread.parentId,
    ownerId: thread.ownerId,
    private: thread.type === ChannelType.PrivateThread,
    archived: thread.archived === true,
    locked: thread.locked === true,
    createdAt: thread.createdAt?.toISOString() ?? null,
    messages: thread.totalMessageSent ?? thread.messageCount ?? 0,
    tags: tagNames(thread),
  };
}

function tagNames({ parent, appliedTags }: AnyThreadChannel): readonly string[] {
  const known: (ForumChannel | MediaChannel)['availableTags'] =
    parent?.isThreadOnly() === true ? parent.availableTags : [];
  return appliedTags.map((id) => known.find((tag) => tag.id === id)?.name ?? id);
}

export function threadText(thread: ThreadView): string {
  const facts = [
    `${nameText(thread.name)} (thread ${thread.id})`,
    ...(thread.private ? ['private'] : []),
    ...(thread.archived ? ['archived'] : []),
    ...(thread.locked ? ['locked'] : []),
    ...(thread.ownerId === null ? [] : [`by ${thread.ownerId}`]),
    ...(thread.createdAt === null ? [] : [`since ${thread.createdAt}`]),
    `${thread.messages} messages`,
    ...(thread.tags.length === 0 ? [] : [`tags ${thread.tags.map(nameText).join(', ')}`]),
  ];
  return facts.join(' · ');
}
