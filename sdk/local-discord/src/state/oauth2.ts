import type { LocalApplication } from './applications.js';
import type { LocalUser } from './users.js';

/** What a person has let an application know; its code is on the way to the application. */
export interface LocalAuthorization {
  readonly application: LocalApplication;
  readonly user: LocalUser;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  /** The hash of what the application keeps to itself until it exchanges the code. */
  readonly challenge: string | undefined;
  readonly until: number;
}

/** What a bearer may ask for, and as whom. */
export interface LocalAccessToken {
  readonly user: LocalUser;
  readonly scopes: readonly string[];
  readonly until: number;
}
