import {
  Access,
  Accounts,
  Clock,
  Commands,
  Files,
  FrontDoor,
  Identities,
  McpEndpoint,
  OwnerNotices,
  optional,
  type PluginContext,
  Random,
  SettingsCatalog,
  ToolPolicies,
  Tools,
  z,
} from '@cinnabar/sdk';
import type { collections } from './collections.js';
import type { settings } from './settings.js';

export const inject = {
  access: Access,
  accounts: optional(Accounts),
  catalog: SettingsCatalog,
  clock: Clock,
  commands: Commands,
  endpoint: optional(McpEndpoint),
  files: Files,
  frontDoor: optional(FrontDoor),
  identities: Identities,
  notices: OwnerNotices,
  random: Random,
  policies: ToolPolicies,
  tools: Tools,
};

export const env = z.object({
  LETTA_API_KEY: z
    .string()
    .optional()
    .meta({ secret: true })
    .describe("Key of the Letta server; Letta's cloud needs one"),
  LETTA_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of a Letta server of your own'),
});

/** What the relay is handed by the host. */
export type RelayContext = PluginContext<typeof settings, typeof collections, typeof inject, typeof env>;
