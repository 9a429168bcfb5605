import type { PinnedConfig } from '../history/types.js';
import type { BotConfig } from './schema.js';

/** Configuration in force for a channel: shared → guild → bot → bot-guild → the guild's settings → channel pins. */
export interface ChatConfig {
  /** Never rejects for what somebody wrote: what cannot be used is left out and listed in `problems`. */
  forChannel(place: {
    readonly guildId: string | null;
    readonly pins: readonly PinnedConfig[];
  }): Promise<EffectiveConfig>;
  /** Why an admin's value would not hold in a guild, whatever the files say; `undefined` when it would. */
  refusalOf(guildId: string, key: string, value: unknown): Promise<string | undefined>;
}

export interface EffectiveConfig {
  readonly config: BotConfig;
  /** Where each value came from, by path (`temperature`): `config/bots/claude.yaml:3`, `setting of the server`, `pin 123…:2` (the line below `.config`), `default`. */
  readonly origin: Readonly<Record<string, string>>;
  /** Everything that was not used, with the reason, file, line and key. */
  readonly problems: readonly string[];
}
