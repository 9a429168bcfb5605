import type { LocalApplication } from './applications.js';
import type { LocalUser } from './users.js';

/** A user's consent, whose code the application has not exchanged yet. */
export interface LocalAuthorization {
  readonly application: LocalApplication;
  readonly user: LocalUser;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** The hash of the secret that the application reveals when it exchanges the code. */
  readonly challenge: string | undefined;
  readonly until: number;
}

/** The scopes and the user of an access token. */
export interface LocalAccessToken {
  readonly user: LocalUser;
  readonly scopes: readonly string[];
  readonly until: number;
}
