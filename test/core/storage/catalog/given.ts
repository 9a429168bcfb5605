import { type Actor, type Tier, z } from '@cinnabar/sdk';
import { memoryStorage, storingPlugin } from '../fixture.js';

export const OWNER: Actor = { userId: '1', guildId: '7', channelId: '5' };
export const ADMIN: Actor = { userId: '2', guildId: '7', channelId: '5' };
export const MEMBER: Actor = { userId: '3', guildId: '7', channelId: '5' };
/** The same user in a direct message. */
export const inPrivate = (actor: Actor): Actor => ({ ...actor, guildId: null, channelId: '99' });

const TIERS: Readonly<Record<string, Tier>> = { '1': 'botOwner', '2': 'admin', '3': 'everyone' };

export const schemas = {
  global: z.object({
    model: z.string().default('small').describe('Which model answers'),
    apiKey: z.string().optional().meta({ secret: true, description: 'Key of the provider' }),
    style: z.enum(['plain', 'cyberpunk']).default('plain'),
  }),
  guild: z.object({
    depth: z.number().int().min(1).max(20).default(5).describe('How many turns'),
    style: z.enum(['plain', 'cyberpunk', 'terminal']).default('plain'),
    channel: z.string().meta({ kind: 'channel' }).optional(),
  }),
  channel: z.object({ quiet: z.boolean().default(false) }),
  role: z.object({ budget: z.number().default(10) }),
  user: z.object({ nick: z.string().max(10).default('') }),
  member: z.object({ colour: z.string().default('red') }),
};

/** A catalog with one plugin `party` that has settings of every scope. */
export function givenCatalog() {
  const memory = memoryStorage({
    tierOf: async ({ userId }) => TIERS[userId] ?? 'everyone',
    hasRole: (guildId, roleId) => guildId === '7' && ['11', '12'].includes(roleId),
  });
  memory.storage.open(storingPlugin({ settings: schemas }));
  return { ...memory, catalog: memory.storage.catalog };
}
