/** A request as the stand-in got it. The key is left out. */
export interface LettaRequestRecord {
  readonly method: string;
  readonly path: string;
  /** As in the routes: `/v1/agents/:agentId/messages`; `undefined` where there is none. */
  readonly route: string | undefined;
  readonly hasKey: boolean;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Milliseconds since the Unix epoch, on the stand-in's clock. */
  readonly at: number;
}
