import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { createCategory } from './create-category.js';
import { createForumChannel } from './create-forum.js';
import { createTextChannel } from './create-text.js';
import { createVoiceChannel } from './create-voice.js';
import { deleteCategory } from './delete-category.js';
import { deleteChannel } from './delete-channel.js';
import { editCategory } from './edit-category.js';
import { editChannel } from './edit-channel.js';
import { removeChannelPermissions } from './remove-permissions.js';
import { setChannelPermissions } from './set-permissions.js';

export const channelTools = (parts: Parts): readonly ToolDefinition[] => [
  createTextChannel(parts),
  createVoiceChannel(parts),
  createForumChannel(parts),
  createCategory(parts),
  editChannel(parts),
  editCategory(parts),
  deleteChannel(parts),
  deleteCategory(parts),
  setChannelPermissions(parts),
  removeChannelPermissions(parts),
];
