import type { LocalGuild } from './guild.js';

/** A role. Its guild's @everyone role has the guild's own id. */
export class LocalRole {
  readonly id: string;
  readonly guild: LocalGuild;
  name: string;
  permissions: bigint;
  position = 0;
  color = 0;
  hoist = false;
  mentionable = false;
  /** Set on the role that came with a bot. */
  botId: string | undefined;

  constructor(guild: LocalGuild, id: string, name: string, permissions: bigint) {
    this.guild = guild;
    this.id = id;
    this.name = name;
    this.permissions = permissions;
  }

  /** The mention, so that a role can stand in a template string. */
  toString(): string {
    return `<@&${this.id}>`;
  }
}
