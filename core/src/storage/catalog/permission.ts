import { type Actor, CinnabarError, type SettingScope, TIERS, type Tier } from '@cinnabar/sdk';

/** The least tier that may change settings of a scope; `undefined`: everybody their own. */
const NEEDED: Readonly<Record<SettingScope, Tier | undefined>> = {
  global: 'botOwner',
  guild: 'admin',
  channel: 'admin',
  role: 'admin',
  user: undefined,
  member: undefined,
};
const NAMES: Readonly<Record<Tier, string>> = {
  everyone: 'everyone',
  mod: 'a moderator',
  admin: 'an admin',
  guildOwner: 'the owner of this server',
  botOwner: 'the bot owner',
};

export function mayChange(scope: SettingScope, tier: Tier): boolean {
  const needed = NEEDED[scope];
  return needed === undefined || TIERS.indexOf(tier) >= TIERS.indexOf(needed);
}

/** @throws CINNABAR_ACCESS_DENIED that says who may */
export async function checkMayChange(
  scope: SettingScope,
  actor: Actor,
  tierOf: (actor: Actor) => Promise<Tier>,
): Promise<void> {
  const needed = NEEDED[scope];
  if (needed === undefined || mayChange(scope, await tierOf(actor))) return;
  const reasons = `only ${NAMES[needed]} may change ${scope} settings.`;
  throw new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons });
}
