import type { LocalApplication } from './applications.js';
import type { LocalUser } from './users.js';

/** A person's consent; its code is on the way to the application. */
export interface LocalAuthorization {
  readonly application: LocalApplication;
  readonly user: LocalUser;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** The hash of the secret that the application keeps until it exchanges the code. */
  readonly challenge: string | undefined;
  readonly until: number;
}

/** The scopes and the person of a token. */
export interface LocalAccessToken {
  readonly user: LocalUser;
  readonly scopes: readonly string[];
  readonly until: number;
}
