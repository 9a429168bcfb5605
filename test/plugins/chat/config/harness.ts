import { createChatConfig } from '@cinnabar/plugin-chat/dist/config/chat-config.js';
import type { EffectiveConfig } from '@cinnabar/plugin-chat/dist/config/keys.js';
import { type ConfigLayer, readYaml } from '@cinnabar/sdk';
import { recordingLogger } from '../../../support/logs.js';

export const GUILD = '123456789012345678';

/** The texts of configuration files, settings and pins. */
export interface Sources {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Oldest first; their ids are 1, 2 … */
  readonly pins?: readonly string[];
}

/** The chat's configuration from the given texts. */
export function openConfig(sources: Sources) {
  const log = recordingLogger();
  const layers = Object.entries(sources.files ?? {}).map(([source, text]) => layerOf(source, text));
  const config = createChatConfig({
    configuration: {
      botName: undefined,
      layers: async () => layers,
      claim: () => async () => undefined,
      onChange: () => async () => undefined,
    },
    settingsOf: async () => sources.settings ?? {},
    log,
  });
  const pins = (sources.pins ?? []).map((yaml, index) => ({ messageId: String(index + 1), yaml }));
  return {
    log,
    inGuild: () => config.forChannel({ guildId: GUILD, pins }),
    inDirectMessage: () => config.forChannel({ guildId: null, pins }),
  };
}

export function effective(sources: Sources): Promise<EffectiveConfig> {
  return openConfig(sources).inGuild();
}

function layerOf(source: string, text: string): ConfigLayer {
  const reading = readYaml(text);
  if (!reading.ok) throw new Error(`${source}:${reading.line}: ${reading.problem}`);
  return { source, values: reading.values, lineOf: reading.lineOf };
}
