import type { Profile } from './discord/send.js';
import { defineToken } from './token.js';

/** An agent's rights in one guild, or in one person's direct messages (`guildId` is `null`). Admins of the guild decide. */
export interface IdentityGrant {
  readonly guildId: string | null;
  /** The member who granted it and is responsible: the agent can never do more than they could. */
  readonly userId: string;
  /** Where its requests for confirmation are shown. */
  readonly channelId: string;
  /** Channels with their threads, and categories with their channels; `all`: wherever `userId` may go. */
  readonly channels: 'all' | readonly string[];
  /** By name; `confirm`: each call waits for a confirmation. Tools that are not listed do not exist for the agent. */
  readonly tools: Readonly<Record<string, 'allow' | 'confirm'>>;
}

/** The identity of an external agent. */
export interface Identity {
  /** Unique in the host, by convention `plugin:name`. */
  readonly id: string;
  /** The plugin that owns the agent. */
  readonly plugin: string;
  /** For people, and for the audit. */
  readonly name: string;
  /** At most one for each guild; without any it can do nothing. */
  readonly grants: readonly IdentityGrant[];
}

/** The identities and their grants. A change applies to the next call, also in an open session. */
export interface Identities {
  get(id: string): Promise<Identity | undefined>;
  /** Identities with a grant there. */
  list(guildId: string | null): Promise<readonly Identity[]>;
  /**
   * Saves an identity. The change is written before it takes effect.
   * @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN when another plugin has one of that id, CINNABAR_DOCUMENT_INVALID when it has two grants for one guild
   */
  save(identity: Identity): Promise<void>;
  remove(id: string): Promise<void>;
  /**
   * Why an identity may not act there at the moment, as a clause for people; `undefined` when it may: its plugin runs, is enabled there, and has no objection.
   * Checked for every call under an identity, and again directly before it runs. Grants are checked separately.
   */
  standing(id: string, guildId: string | null): Promise<string | undefined>;
  /**
   * Adds a plugin's check of its own identities: a switch of the guild, a member who has not consented. A check that throws is an objection.
   * @returns a function that removes it
   */
  object(plugin: string, check: IdentityObjection): () => void;
  /**
   * The current name and picture of an identity in a guild, for `sendAs`; `undefined` for those of the bot. Never throws: when they cannot be determined, the
   * bot's are used.
   */
  profile(id: string, guildId: string | null): Promise<Profile | undefined>;
  /**
   * Sets the source of the names and pictures of a plugin's own identities. It is called for each message, so that a change applies to the next one.
   * @returns a function that removes it
   */
  giveProfiles(plugin: string, profileOf: IdentityProfiles): () => void;
}

/** Why an identity may not act there now, as a clause: "the agents of this server are switched off". `undefined` when it may. */
export type IdentityObjection = (identity: Identity, guildId: string | null) => Promise<string | undefined>;

/** The name and picture of an identity in a guild (`null`: in direct messages); `undefined` for the bot's own. */
export type IdentityProfiles = (identity: Identity, guildId: string | null) => Promise<Profile | undefined>;

export const Identities = defineToken<Identities>('cinnabar.identities');

/** The host's tools over MCP, for agents with an identity. Provided by `mcp`. */
export interface McpEndpoint {
  /** `http://127.0.0.1:8808/mcp`; `undefined` while it is off. */
  readonly url: string | undefined;
  /** Issues a new bearer token for an identity; earlier ones become invalid. Only the caller gets it: the host keeps a hash. */
  issue(identity: string): Promise<{ readonly bearer: string }>;
  /** Revokes the identity's bearer token, and ends its sessions. */
  revoke(identity: string): Promise<void>;
  /** Ends the identity's sessions, and with them its running calls. Its token stays valid: it can open another session. */
  cut(identity: string): Promise<void>;
  /** Whether the identity has a valid bearer token. */
  has(identity: string): Promise<boolean>;
}
export const McpEndpoint = defineToken<McpEndpoint>('cinnabar.mcp-endpoint');
