import type { GatewayIntentsString, PermissionsString } from 'discord.js';

/** What can be shown of a plugin before it runs. */
export interface Manifest {
  /** Lower case letters, digits and `-`, at most 32; unique in the host. */
  readonly id: string;
  /** Semantic version. */
  readonly version: string;
  readonly description: string;
  readonly author?: string;
  /** Semantic version range of hosts it runs on. */
  readonly host?: string;
  /** Gateway intents that its listeners need; the bot asks Discord for the union of all. */
  readonly intents?: readonly GatewayIntentsString[];
  /** Intents of listeners that can do without: they hear something where another plugin, or the owner, has the bot ask for them. */
  readonly optionalIntents?: readonly GatewayIntentsString[];
  /** Discord permissions that the bot needs for this plugin. */
  readonly permissions?: readonly PermissionsString[];
  /** Hosts that it talks to, for people who decide whether to run it: `api.example.org`. Nothing enforces it. */
  readonly hosts?: readonly string[];
  /** Set when tools must not run without it: where it is enabled but not running, every tool call is refused. */
  readonly guard?: boolean;
  /** Off in a guild until an admin enables it; on by default. */
  readonly enabledByDefault?: boolean;
  /** What it means for a guild to switch it off, where that is more than that its commands are gone: told, and asked about, before it is done. */
  readonly disabling?: string;
  /** Set when its commands are about the bot itself (settings, costs, help): what they answer is a notice, which no model reads. */
  readonly administrative?: boolean;
  /** Set when nobody could get back in without it: it can be neither disabled in a guild nor unloaded. */
  readonly required?: boolean;
}
