import {
  Access,
  Clock,
  type Collections,
  Configuration,
  MessageOrigins,
  type PluginContext,
  Random,
  z,
} from '@cinnabar/sdk';
import { accountSchema } from './daily-sums.js';
import { receiptsSchema } from './receipts.js';

export const settings = {
  global: z.object({
    receipts: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(50)
      .describe('How many receipts are kept of each mind in a channel'),
    receiptDays: z.number().int().min(1).max(3_650).default(31).describe('How many days receipts are kept'),
  }),
};

export const collections = {
  guildAccounts: { scope: 'guild', version: 1, schema: accountSchema },
  channelAccounts: { scope: 'channel', version: 1, schema: accountSchema },
  memberAccounts: { scope: 'member', version: 1, schema: accountSchema },
  receipts: { scope: 'channel', version: 1, schema: receiptsSchema },
} as const;

export type AccountStores = Collections<typeof collections>;

export const inject = {
  access: Access,
  clock: Clock,
  configuration: Configuration,
  origins: MessageOrigins,
  random: Random,
};

export type AccountsContext = PluginContext<typeof settings, typeof collections, typeof inject>;
