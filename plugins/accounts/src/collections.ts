import type { Collection } from '@cinnabar/sdk';
import { receiptsSchema } from './receipts/schema.js';
import type { ReceiptStore } from './receipts/store.js';
import { type Account, accountSchema } from './sums/days.js';

export const collections = {
  guildAccounts: { scope: 'guild', version: 1, schema: accountSchema },
  channelAccounts: { scope: 'channel', version: 1, schema: accountSchema },
  memberAccounts: { scope: 'member', version: 1, schema: accountSchema },
  receipts: { scope: 'channel', version: 1, schema: receiptsSchema },
} as const;

export interface AccountStores {
  readonly guildAccounts: Collection<Account, 'guild'>;
  readonly channelAccounts: Collection<Account, 'channel'>;
  readonly memberAccounts: Collection<Account, 'member'>;
  readonly receipts: ReceiptStore;
}
