import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { createForumPost } from './create-post.js';
import { deleteForumPost } from './delete-post.js';
import { getForumChannels } from './get-forum-channels.js';
import { getForumPost } from './get-post.js';
import { getForumTags } from './get-tags.js';
import { listForumThreads } from './list-posts.js';
import { replyToForum } from './reply.js';
import { setForumTags } from './set-tags.js';
import { updateForumPost } from './update-post.js';

export const forumTools = (parts: Parts): readonly ToolDefinition[] => [
  getForumChannels(parts),
  createForumPost(parts),
  getForumPost(parts),
  replyToForum(parts),
  deleteForumPost(parts),
  listForumThreads(parts),
  getForumTags(parts),
  setForumTags(parts),
  updateForumPost(parts),
];
