import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { getMember } from './get-member.js';
import { listMembers } from './list-members.js';
import { removeTimeout, timeoutMember } from './timeout-member.js';

export const memberTools = (parts: Parts): readonly ToolDefinition[] => [
  listMembers(parts),
  getMember(parts),
  timeoutMember(parts),
  removeTimeout(parts),
];
