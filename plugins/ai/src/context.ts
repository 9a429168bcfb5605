import {
  Access,
  Clock,
  Commands,
  Llm,
  optional,
  type PluginContext,
  Plugins,
  Random,
  Redaction,
  Responders,
} from '@cinnabar/sdk';
import type { settings } from './settings.js';
import type { collections } from './still-working.js';

export const inject = {
  access: Access,
  clock: Clock,
  commands: Commands,
  llm: optional(Llm),
  plugins: Plugins,
  random: Random,
  redaction: Redaction,
  responders: Responders,
};

export type AiContext = PluginContext<typeof settings, typeof collections, typeof inject>;
