import type { Tool } from '@letta-ai/letta-client/resources/tools';
import type { StandInTool } from '../state/tool.js';

/** A tool as the server shows it. */
export function toolState({ id, name, description, inputSchema, home }: StandInTool): Tool {
  const local = typeof home === 'function';
  return {
    id,
    name,
    description,
    json_schema: { name, description, parameters: inputSchema },
    tool_type: local ? 'custom' : 'external_mcp',
    tags: local ? [] : [`mcp:${home.serverName}`],
    metadata_: local ? {} : { mcp: { server_name: home.serverName, server_id: home.serverId } },
    default_requires_approval: null,
    return_char_limit: 50_000,
  } satisfies Tool;
}
