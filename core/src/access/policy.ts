import { type AccessRequest, type DecisionReason, permissionName, TIERS, type Tier } from '@cinnabar/sdk';
import { PermissionFlagsBits, PermissionsBitField, type PermissionsString } from 'discord.js';
import type { Subject } from './subjects.js';

/** One rule of the policy. `undefined`: the request asks nothing of the kind. */
interface Check {
  readonly rule: string;
  look(subject: Subject, request: AccessRequest, pluginEnabled: boolean): Omit<DecisionReason, 'rule'> | undefined;
}

const PLACES = { guild: 'in a server', dm: 'in a direct message' } as const;

/** Every rule that is looked at, in the order in which people read the reasons. */
const CHECKS: readonly Check[] = [
  {
    rule: 'place',
    look(subject, { policy }) {
      if (policy.where === undefined || policy.where === 'anywhere') return undefined;
      return policy.where === subject.place
        ? { allowed: true, text: `this is ${PLACES[subject.place]}` }
        : { allowed: false, text: `this only works ${PLACES[policy.where]}` };
    },
  },
  {
    rule: 'plugin-enabled',
    look(_subject, { plugin }, enabled) {
      return enabled
        ? { allowed: true, text: `the plugin "${plugin}" is switched on here` }
        : { allowed: false, text: `the plugin "${plugin}" is switched off here` };
    },
  },
  {
    rule: 'tier',
    look(subject, { policy }) {
      const needed = (subject.place === 'dm' ? policy.dmTier : undefined) ?? policy.tier ?? 'everyone';
      if (needed === 'everyone') return { allowed: true, text: 'everyone may use this' };
      const actual = tierIn(subject);
      if (!reaches(actual, needed)) {
        const text = `you need to be at least ${TIER_NAMES[needed]} here, and you are ${TIER_NAMES[actual]}`;
        return { allowed: false, text };
      }
      return { allowed: true, text: `you are ${TIER_NAMES[actual]}` };
    },
  },
  {
    rule: 'member-permissions',
    look(subject, { policy }) {
      if (policy.member === undefined || policy.member.length === 0) return undefined;
      const missing = missingPermissions(subject.memberPermissions, policy.member, subject.inThread);
      return missing.length === 0
        ? { allowed: true, text: `you have ${permissionNames(policy.member)} in this channel` }
        : { allowed: false, text: `you lack ${permissionNames(missing)} in this channel` };
    },
  },
  {
    rule: 'bot-permissions',
    look(subject, { policy }) {
      if (policy.bot === undefined || policy.bot.length === 0) return undefined;
      const missing = missingPermissions(subject.botPermissions, policy.bot, subject.inThread);
      return missing.length === 0
        ? { allowed: true, text: `I have ${permissionNames(policy.bot)} in this channel` }
        : { allowed: false, text: `I lack ${permissionNames(missing)} in this channel` };
    },
  },
];

/** Every reason for and against, in order. Pure: what it is given is all there is. */
export function judge(subject: Subject, request: AccessRequest, pluginEnabled: boolean): readonly DecisionReason[] {
  const reasons: DecisionReason[] = [];
  for (const { rule, look } of CHECKS) {
    const found = look(subject, request, pluginEnabled);
    if (found !== undefined) reasons.push({ rule, allowed: found.allowed, text: found.text });
  }
  return reasons;
}

const { Administrator, ManageGuild, ModerateMembers, KickMembers, BanMembers, ManageMessages } = PermissionFlagsBits;

const hasRole = (subject: Subject, ids: readonly string[]) => ids.some((id) => subject.hasRole(id));

/** From the most trusted down: the first that holds is the actor's tier. The guild's tiers have no meaning in a direct message. */
const HOLDS: readonly (readonly [Tier, (subject: Subject) => boolean])[] = [
  ['botOwner', (subject) => subject.isBotOwner],
  ['everyone', (subject) => subject.place === 'dm'],
  ['guildOwner', (subject) => subject.isGuildOwner],
  [
    'admin',
    (subject) => subject.guildPermissions.any([Administrator, ManageGuild]) || hasRole(subject, subject.adminRoles),
  ],
  [
    'mod',
    (subject) =>
      subject.guildPermissions.any([ModerateMembers, KickMembers, BanMembers, ManageMessages]) ||
      hasRole(subject, subject.modRoles),
  ],
];

export function tierIn(subject: Subject): Tier {
  return HOLDS.find(([, holds]) => holds(subject))?.[0] ?? 'everyone';
}

function reaches(actual: Tier, needed: Tier): boolean {
  return TIERS.indexOf(actual) >= TIERS.indexOf(needed);
}

/** A tier as it reads in a sentence: "you are …". */
const TIER_NAMES: Readonly<Record<Tier, string>> = {
  everyone: 'an ordinary member',
  mod: 'a moderator',
  admin: 'an admin',
  guildOwner: "the server's owner",
  botOwner: "the bot's owner",
};

/** What anyone, the bot included, can do in a direct message, where Discord keeps no permissions. */
export const IN_DIRECT_MESSAGES = new PermissionsBitField([
  'ViewChannel',
  'SendMessages',
  'EmbedLinks',
  'AttachFiles',
  'AddReactions',
  'UseExternalEmojis',
  'ReadMessageHistory',
]).freeze();

export const NO_PERMISSIONS = new PermissionsBitField().freeze();

const TIMED_OUT = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

/** A member in time-out can only look on, unless an administrator: https://discord.com/developers/docs/topics/permissions */
export function whileTimedOut(permissions: Readonly<PermissionsBitField>): Readonly<PermissionsBitField> {
  if (permissions.has(PermissionFlagsBits.Administrator)) return permissions;
  return new PermissionsBitField(permissions.bitfield & TIMED_OUT).freeze();
}

/** The wanted permissions that are not there. In a thread, sending needs `SendMessagesInThreads` instead. */
function missingPermissions(
  held: Readonly<PermissionsBitField>,
  wanted: readonly PermissionsString[],
  inThread: boolean,
): readonly PermissionsString[] {
  const inPlace = wanted.map((name) => (inThread && name === 'SendMessages' ? 'SendMessagesInThreads' : name));
  return inPlace.filter((name) => !held.has(name));
}

/** `ManageMessages` as people know it: "Manage Messages". */
function permissionNames(permissions: readonly PermissionsString[]): string {
  return permissions.map(permissionName).join(', ');
}
