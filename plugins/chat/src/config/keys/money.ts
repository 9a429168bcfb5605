import { z } from '@cinnabar/sdk';
import { key } from './key.js';

const budget = (whose: string) =>
  z
    .strictObject({
      tokensPerDay: key(
        { scope: 'files', description: `Tokens that ${whose} may use in a day (UTC); 0: none` },
        z.int().min(0).optional(),
      ),
      usdPerDay: key(
        { scope: 'files', description: `US dollars that ${whose} may use in a day (UTC); 0: none` },
        z.number().min(0).optional(),
      ),
    })
    .prefault({});

export const moneyKeys = {
  budgets: key(
    { scope: 'files', description: 'What may be used in a day; without a limit when left out' },
    z
      .strictObject({
        guild: budget('a server'),
        channel: budget('a channel'),
        member: budget('a member of a server'),
      })
      .prefault({}),
  ),
  receipts: key(
    {
      scope: 'channel',
      description:
        'Whether a small line under each answer tells its tokens and its price; `!why` and `!cost` tell it anyway',
    },
    z.boolean().default(false),
  ),
};
