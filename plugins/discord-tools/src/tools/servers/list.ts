import type { ToolDefinition } from '@cinnabar/sdk';
import type { Parts } from '../../parts.js';
import { getServerInfo } from './get-server-info.js';
import { listServers } from './list-servers.js';

export const serverTools = (parts: Parts): readonly ToolDefinition[] => [listServers(parts), getServerInfo(parts)];
