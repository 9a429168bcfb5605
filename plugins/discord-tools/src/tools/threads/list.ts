import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { archiveThread } from './archive-thread.js';
import { createThread } from './create-thread.js';
import { deleteThread } from './delete-thread.js';
import { joinThread } from './join-thread.js';
import { listThreads } from './list-threads.js';

export const threadTools = (parts: Parts): readonly ToolDefinition[] => [
  createThread(parts),
  listThreads(parts),
  joinThread(parts),
  archiveThread(parts),
  deleteThread(parts),
];
