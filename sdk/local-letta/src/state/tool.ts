/** A tool that agents can have. */
export interface StandInTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Where it runs: at a server that was registered, or here. */
  readonly home: { readonly serverId: string; readonly serverName: string } | LocalTool;
}

/** A tool that the stand-in runs itself, as Letta's own are. Returns what the agent is told. */
export type LocalTool = (input: Readonly<Record<string, unknown>>) => string | Promise<string>;
