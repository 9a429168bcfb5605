import type { APIApplicationCommand, GatewayPresenceUpdateData } from 'discord-api-types/v10';
import type { LocalUser } from './users.js';

export type PrivilegedIntent = 'GuildMembers' | 'GuildPresences' | 'MessageContent';

/** Who owns an application together. The owner of the team is its first member. */
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
  /** What the bot logs in with. */
  readonly token: string;
  /** With which it exchanges codes of OAuth2. */
  readonly clientSecret: string;
  /** Where the developer portal lets OAuth2 send browsers: none unless added. */
  readonly redirectUris: Set<string>;
  description: string;
  /** What the bot shows of itself, by its last IDENTIFY or presence update. */
  presence: GatewayPresenceUpdateData | undefined;
  /** The switches of the developer portal. All are on unless the test says otherwise. */
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
