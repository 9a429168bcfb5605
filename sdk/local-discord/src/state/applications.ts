import type { APIApplicationCommand, GatewayPresenceUpdateData } from 'discord-api-types/v10';
import type { LocalUser } from './users.js';

export type PrivilegedIntent = 'GuildMembers' | 'GuildPresences' | 'MessageContent';

/** The joint owners of an application. The first member is the owner of the team. */
export interface LocalTeam {
  readonly id: string;
  readonly name: string;
  readonly members: readonly LocalUser[];
}

/** A bot: the application, its user (same id) and its token. */
export interface LocalApplication {
  readonly id: string;
  readonly name: string;
  readonly user: LocalUser;
  readonly owner: LocalUser;
  readonly team: LocalTeam | undefined;
  /** The token with which the bot logs in. */
  readonly token: string;
  /** The secret with which it exchanges OAuth2 codes. */
  readonly clientSecret: string;
  /** Addresses to which OAuth2 may redirect browsers, as in the developer portal; empty unless added. */
  readonly redirectUris: Set<string>;
  description: string;
  /** The bot's presence, by its last IDENTIFY or presence update. */
  presence: GatewayPresenceUpdateData | undefined;
  /** The settings of the developer portal. All are on unless a test changes them. */
  readonly privilegedIntents: ReadonlySet<PrivilegedIntent>;
  /** By command id. */
  readonly globalCommands: Map<string, LocalCommand>;
  /** By guild id, then command id. */
  readonly guildCommands: Map<string, Map<string, LocalCommand>>;
  /** Times of command creations, by guild id (`''` for global ones): Discord allows 200 a day. */
  readonly commandCreations: Map<string, number[]>;
}

/** An application command as Discord returns it. */
export type LocalCommand = APIApplicationCommand;
