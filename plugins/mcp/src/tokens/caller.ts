import type { Actor } from '@cinnabar/sdk';

/** Whom a bearer acts as. */
export interface Caller {
  /** Of the token: its sessions and its rate belong to it. */
  readonly id: string;
  /** Only these tools; empty: all that the actor may use. */
  readonly tools: readonly string[];
  /** Asked for each request, since an agent may have been sent away meanwhile: then there is none. */
  actor(): Promise<Actor | undefined>;
}

/** `undefined` when the bearer is not valid, or not any more. */
export type Verify = (bearer: string) => Promise<Caller | undefined>;
