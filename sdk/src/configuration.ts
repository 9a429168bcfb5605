import type { Disposer } from './context.js';
import { defineToken } from './token.js';

/** One file of the configuration, or a part of one, as it applies somewhere. */
export interface ConfigLayer {
  /** For people: `config/bots/claude.yaml`. */
  readonly source: string;
  /** The keys that are not the host's own, unvalidated plain data. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The line of a key, or of the nearest part of it that is there; from 1. */
  lineOf(key: readonly (string | number)[]): number;
}

/** The YAML files of the configuration folder: shared → guild → bot → bot-guild. Changes on disk are seen without a restart. */
export interface Configuration {
  /** The bot's name as chosen by `--bot` or `BOT_NAME`; `undefined` when none was. */
  readonly botName: string | undefined;
  /** Those that apply in a guild (`null`: direct messages), the widest first; missing files are left out. A file that cannot be parsed keeps its last good content. */
  layers(guildId: string | null): Promise<readonly ConfigLayer[]>;
  /** Claims top-level keys: a key that nobody claims is reported as a mistake. Those of a plugin's `configuration` are claimed while it runs. */
  claim(keys: readonly string[]): Disposer;
  /** Called after a file has changed, with its source. */
  onChange(listener: (source: string) => void): Disposer;
}
export const Configuration = defineToken<Configuration>('cinnabar.configuration');
