import type { Attachment, Client, Guild, User } from 'discord.js';

/** Where and by whom an option is given: names of members, roles and channels mean something only there. */
export interface Place {
  readonly client: Client;
  readonly guild: Guild | null;
  readonly user: User;
  /** Files that came along, by id. */
  readonly attachments: ReadonlyMap<string, Attachment>;
}

/** What was looked for, or one sentence on why it was not found. */
export type Found<T> = { readonly value: T } | { readonly problem: string };
