import { z } from '@cinnabar/sdk';
import { key } from './key.js';

export const receiptKeys = {
  receipts: key(
    {
      scope: 'channel',
      description:
        'Whether a small line under each answer tells its tokens and its price; `!why` and `!cost` tell it anyway',
    },
    z.boolean().default(false),
  ),
};
