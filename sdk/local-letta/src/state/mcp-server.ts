/** A server of tools that somebody has registered. */
export interface McpServer {
  readonly id: string;
  name: string;
  url: string;
  /** Name of the header that carries the token. */
  authHeader: string | null;
  authToken: string | null;
  customHeaders: Readonly<Record<string, string>>;
}
