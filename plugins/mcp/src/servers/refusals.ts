import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';

/** What the client says it can do: nothing beside calling tools. */
export const CAPABILITIES = {} as const;

/**
 * Answers what servers ask of their clients. A member has asked for one tool call: neither their model nor their answers to forms are
 * the server's to use. A server that asks all the same hears a clear no, at once.
 */
export function refuseRequests(client: Client): void {
  client.fallbackRequestHandler = async ({ method }) => {
    switch (method) {
      case ElicitRequestSchema.shape.method.value:
        return { action: 'decline' };
      case ListRootsRequestSchema.shape.method.value:
        return { roots: [] };
      case CreateMessageRequestSchema.shape.method.value:
        throw new McpError(ErrorCode.InvalidRequest, 'This client does not lend its model to servers');
      default:
        throw new McpError(ErrorCode.MethodNotFound, `This client does not answer ${method}`);
    }
  };
}
