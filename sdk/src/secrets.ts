import { defineToken } from './token.js';

/** A variable that plugins mark as secret in their `env`. Its value is never shown. */
export interface SecretInfo {
  readonly name: string;
  readonly description: string;
  /** Ids of the plugins that read it. */
  readonly plugins: readonly string[];
  /** Where its value is from: the environment (or a `.env` file), which comes first, or the bot's own store; `undefined` when it is not set. */
  readonly source: 'environment' | 'stored' | undefined;
}

/** What became of a plugin whose environment has changed. */
export interface ReloadOutcome {
  readonly plugin: string;
  /** Why it does not run with the new value. */
  readonly problem?: string;
}

/**
 * Secrets that the owner of the bot sets while it runs. They are kept in a file of the data that its user alone may read, fill in what the environment leaves
 * unset, and are taken out of all that is logged or recorded.
 */
export interface Secrets {
  list(): readonly SecretInfo[];
  /**
   * Checks the value by the schemas of the plugins that read it, stores it, and loads those plugins anew.
   * @throws UserError when no plugin reads it, or when the environment sets it; CINNABAR_SETTING_INVALID, without the value
   */
  set(name: string, value: string): Promise<readonly ReloadOutcome[]>;
  /** @throws UserError when it is not stored */
  delete(name: string): Promise<readonly ReloadOutcome[]>;
  /** Takes words out of all that is logged or recorded from now on, because they were typed where others could read them. */
  redact(words: string): void;
}
export const Secrets = defineToken<Secrets>('cinnabar.secrets');
