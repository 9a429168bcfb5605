import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { assignRole, removeRole } from './assign-role.js';
import { createRole } from './create-role.js';
import { deleteRole } from './delete-role.js';
import { editRole } from './edit-role.js';
import { listRoles } from './list-roles.js';

export const roleTools = (parts: Parts): readonly ToolDefinition[] => [
  listRoles(parts),
  createRole(parts),
  editRole(parts),
  deleteRole(parts),
  assignRole(parts),
  removeRole(parts),
];
