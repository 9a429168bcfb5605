import { defineToken } from './token.js';

/** A member's own data that a plugin holds outside user-scoped collections. */
export interface PersonalData {
  export(userId: string): Promise<unknown>;
  forget(userId: string): Promise<void>;
  /** What stays of a person after that, and why, as a clause for people: "that calls were made, without their words, in the audit". */
  readonly stays?: readonly string[];
}

/** What the bot holds of one person, over all plugins: their user-scoped collections and what plugins cover themselves. */
export interface PersonalDataStore {
  /** By plugin, JSON-able. */
  export(userId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Deletes it all. Returns how many documents went. */
  forget(userId: string): Promise<number>;
  /** What stays of a person after that, and why. */
  stays(): readonly string[];
}
export const PersonalDataStore = defineToken<PersonalDataStore>('cinnabar.personal-data');
