import type { AccessSubject, DecisionReason } from '@cinnabar/sdk';
import { missingPermissions, permissionNames } from './permissions.js';
import type { Standing } from './standing.js';
import { reaches, TIER_NAMES, tierIn } from './tiers.js';

/** One rule of the policy. `undefined`: the subject asks nothing of the kind. */
interface Check {
  readonly rule: string;
  look(standing: Standing, subject: AccessSubject, pluginEnabled: boolean): Omit<DecisionReason, 'rule'> | undefined;
}

const PLACES = { guild: 'in a server', dm: 'in a direct message' } as const;

/** Every rule that is looked at, in the order in which people read the reasons. */
const CHECKS: readonly Check[] = [
  {
    rule: 'place',
    look(standing, { policy }) {
      if (policy.where === undefined || policy.where === 'anywhere') return undefined;
      return policy.where === standing.place
        ? { allowed: true, text: `this is ${PLACES[standing.place]}` }
        : { allowed: false, text: `this only works ${PLACES[policy.where]}` };
    },
  },
  {
    rule: 'plugin-enabled',
    look(_standing, { plugin }, enabled) {
      return enabled
        ? { allowed: true, text: `the plugin "${plugin}" is switched on here` }
        : { allowed: false, text: `the plugin "${plugin}" is switched off here` };
    },
  },
  {
    rule: 'tier',
    look(standing, { policy }) {
      const needed = (standing.place === 'dm' ? policy.dmTier : undefined) ?? policy.tier ?? 'everyone';
      if (needed === 'everyone') return { allowed: true, text: 'everyone may use this' };
      const actual = tierIn(standing);
      if (!reaches(actual, needed)) {
        const text = `you need to be at least ${TIER_NAMES[needed]} here, and you are ${TIER_NAMES[actual]}`;
        return { allowed: false, text };
      }
      return { allowed: true, text: `you are ${TIER_NAMES[actual]}` };
    },
  },
  {
    rule: 'member-permissions',
    look(standing, { policy }) {
      if (policy.member === undefined || policy.member.length === 0) return undefined;
      const missing = missingPermissions(standing.memberPermissions, policy.member, standing.inThread);
      return missing.length === 0
        ? { allowed: true, text: `you have ${permissionNames(policy.member)} in this channel` }
        : { allowed: false, text: `you lack ${permissionNames(missing)} in this channel` };
    },
  },
  {
    rule: 'bot-permissions',
    look(standing, { policy }) {
      if (policy.bot === undefined || policy.bot.length === 0) return undefined;
      const missing = missingPermissions(standing.botPermissions, policy.bot, standing.inThread);
      return missing.length === 0
        ? { allowed: true, text: `I have ${permissionNames(policy.bot)} in this channel` }
        : { allowed: false, text: `I lack ${permissionNames(missing)} in this channel` };
    },
  },
];

/** Every reason for and against, in order. Pure: what it is given is all there is. */
export function judge(standing: Standing, subject: AccessSubject, pluginEnabled: boolean): readonly DecisionReason[] {
  const reasons: DecisionReason[] = [];
  for (const { rule, look } of CHECKS) {
    const found = look(standing, subject, pluginEnabled);
    if (found !== undefined) reasons.push({ rule, allowed: found.allowed, text: found.text });
  }
  return reasons;
}
