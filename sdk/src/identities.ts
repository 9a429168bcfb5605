import type { Profile } from './discord/send.js';
import { defineToken } from './token.js';

/** How far an agent may go in one guild, or in one person's direct messages (`guildId` is `null`). Admins of the guild decide. */
export interface IdentityGrant {
  readonly guildId: string | null;
  /** Who let it in and answers for it: it never does what they could not. */
  readonly userId: string;
  /** Where its requests for confirmation are shown. */
  readonly channelId: string;
  /** Channels with their threads, and categories with their channels; `all`: wherever `userId` may go. */
  readonly channels: 'all' | readonly string[];
  /** By name; `confirm`: each call waits for a 👍. A tool that is not here is not there for the agent. */
  readonly tools: Readonly<Record<string, 'allow' | 'confirm'>>;
}

/** As whom an agent from elsewhere acts. */
export interface Identity {
  /** Unique in the host, by convention `plugin:name`. */
  readonly id: string;
  /** The plugin whose agent it is. */
  readonly plugin: string;
  /** For people, and for the audit. */
  readonly name: string;
  /** At most one for each guild; without any it can do nothing. */
  readonly grants: readonly IdentityGrant[];
}

/** Who has been let in, and how far. A change holds for the next call, also of a session that is already open. */
export interface Identities {
  get(id: string): Promise<Identity | undefined>;
  /** Those with a grant there. */
  list(guildId: string | null): Promise<readonly Identity[]>;
  /**
   * Written before it holds.
   * @throws CINNABAR_NAME_INVALID, CINNABAR_NAME_TAKEN when another plugin has one of that id, CINNABAR_DOCUMENT_INVALID when it has two
   *   grants for one guild
   */
  save(identity: Identity): Promise<void>;
  remove(id: string): Promise<void>;
  /**
   * Why an identity may not act there at the moment, as a clause for people; `undefined` while nothing stands against it: its plugin runs, is
   * switched on there, and has no objection. Asked for every call under an identity, and again right before it runs. What it was granted is
   * another question.
   */
  standing(id: string, guildId: string | null): Promise<string | undefined>;
  /**
   * Adds what a plugin has against its own identities: a switch of the guild, a member who has not consented. A check that throws is an objection.
   * @returns takes it back
   */
  object(plugin: string, check: IdentityObjection): () => void;
  /**
   * The name and the picture under which an identity speaks in a guild at the moment, for `sendAs`; `undefined` when it speaks as the bot. It
   * never throws: what cannot be found out is said as the bot.
   */
  profile(id: string, guildId: string | null): Promise<Profile | undefined>;
  /**
   * Says under which names and pictures a plugin's own identities speak. It is asked for each message, so that a change holds for the next one.
   * @returns takes it back
   */
  giveProfiles(plugin: string, profileOf: IdentityProfiles): () => void;
}

/** Why an identity may not act there now, as a clause: "the agents of this server are switched off". `undefined` when it may. */
export type IdentityObjection = (identity: Identity, guildId: string | null) => Promise<string | undefined>;

/** Under which name and picture an identity speaks in a guild (`null`: in direct messages); `undefined` for the bot's own. */
export type IdentityProfiles = (identity: Identity, guildId: string | null) => Promise<Profile | undefined>;

export const Identities = defineToken<Identities>('cinnabar.identities');

/** The host's tools over MCP, for agents with an identity. Provided by `mcp`. */
export interface McpEndpoint {
  /** `http://127.0.0.1:8808/mcp`; `undefined` while it is off. */
  readonly url: string | undefined;
  /** A new bearer for an identity; those it had before are void. Only its caller has it: the host keeps a hash. */
  issue(identity: string): Promise<{ readonly bearer: string }>;
  /** Voids the identity's bearer, and ends its sessions. */
  revoke(identity: string): Promise<void>;
  /** Ends the identity's sessions, and with them its calls under way. Its bearer stays: it can open another session. */
  cut(identity: string): Promise<void>;
  /** Whether the identity has a bearer that is valid. */
  has(identity: string): Promise<boolean>;
}
export const McpEndpoint = defineToken<McpEndpoint>('cinnabar.mcp-endpoint');
