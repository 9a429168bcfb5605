import { defineToken } from './token.js';

/** The host's tools over MCP, for agents with an identity. Provided by `mcp`. */
export interface McpEndpoint {
  /** `http://127.0.0.1:8808/mcp`; `undefined` while it is off. */
  readonly url: string | undefined;
  /** A new bearer for an identity; those it had before are void. It is kept nowhere but with whoever asked. */
  issue(identity: string): Promise<{ readonly bearer: string }>;
  /** Voids the identity's bearer, and ends its sessions. */
  revoke(identity: string): Promise<void>;
  /** Ends the identity's sessions, and with them its calls under way. Its bearer stays: it can open another session. */
  cut(identity: string): Promise<void>;
  /** Whether the identity has a bearer that is valid. */
  has(identity: string): Promise<boolean>;
}
export const McpEndpoint = defineToken<McpEndpoint>('cinnabar.mcp-endpoint');
