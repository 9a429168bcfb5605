import type { Actor, BudgetLimits, DayLimit, Document } from '@cinnabar/sdk';
import type { AccountStores } from './collections.js';
import { type Holder, isLimited } from './limits/judge.js';
import type { Account } from './sums/days.js';

export interface LimitedAccount {
  readonly holder: Holder;
  readonly limit: DayLimit;
  readonly document: Document<Account>;
}

/** The accounts of which a limit holds. In a direct message the channel is the member's: both limits hold for it. */
export function limitedAccounts(
  { guildAccounts, channelAccounts, memberAccounts }: AccountStores,
  { guildId, channelId, userId }: Actor,
  { guild = {}, channel = {}, member = {} }: BudgetLimits,
): readonly LimitedAccount[] {
  const ofChannel = channelAccounts.of(channelId);
  const accounts: readonly LimitedAccount[] =
    guildId === null
      ? [
          { holder: 'channel', limit: channel, document: ofChannel },
          { holder: 'member', limit: member, document: ofChannel },
        ]
      : [
          { holder: 'guild', limit: guild, document: guildAccounts.of(guildId) },
          { holder: 'channel', limit: channel, document: ofChannel },
          { holder: 'member', limit: member, document: memberAccounts.of({ userId, guildId }) },
        ];
  return accounts.filter(({ limit }) => isLimited(limit));
}
