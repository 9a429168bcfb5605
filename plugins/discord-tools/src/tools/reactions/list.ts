import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { addReaction } from './add.js';
import { addMultipleReactions } from './add-multiple.js';
import { removeReaction } from './remove.js';
import { getReactionUsers } from './users.js';

export const reactionTools = (parts: Parts): readonly ToolDefinition[] => [
  addReaction(parts),
  addMultipleReactions(parts),
  removeReaction(parts),
  getReactionUsers(parts),
];
